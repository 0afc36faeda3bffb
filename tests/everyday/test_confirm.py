"""A person looks at what was flagged, and tells the gate."""

import json
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from dissensus import Detector
from dissensus.detector import confirming
from dissensus.errors import ArtifactError, DataError, SettingsError
from tests.cli.conftest import stripes
from tests.everyday.conftest import penguins, rows_of, text_of


@pytest.fixture
def gate(penguin_gate):
    return Detector.load(penguin_gate, device="cpu")


@pytest.fixture
def table(tmp_path):
    """Penguins of whom a third are from Mars, as a file."""
    table = penguins(60, seed=4)
    table["island"] = ["Mars" if n % 3 == 0 else island for n, island in enumerate(table["island"])]
    (tmp_path / "new.csv").write_text(text_of(table))
    return tmp_path / "new.csv"


def test_alarms_alone_are_remembered_and_do_not_calibrate(gate, table):
    before = gate.calibration_scores_.copy(), gate.score_samples(table)
    done = gate.confirm(table, normal=True)
    assert done == (0, 60, 0)
    np.testing.assert_array_equal(gate.calibration_scores_, before[0])
    np.testing.assert_array_equal(gate.score_samples(table), before[1])
    assert gate.known(table) == ["confirmed as normal before"] * 60


def test_all_that_was_looked_at_calibrates(gate, table):
    scores = -gate.score_samples(table)
    count = len(gate.calibration_scores_)
    assert gate.confirm(table, normal=True, audited=1).joined == 60
    np.testing.assert_array_equal(gate.calibration_scores_[count:], scores)
    assert {len(values) for values in gate.calibration_statistics_.values()} == {count + 60}


def test_of_alarms_as_many_join_as_of_the_others(gate, table):
    flagged = np.arange(60) < 30
    count = len(gate.calibration_scores_)
    scores = -gate.score_samples(table)
    joined = gate.confirm(table, normal=True, audited=0.5, flagged=flagged).joined
    assert 30 + 5 <= joined <= 30 + 25  # more happen with a probability of .0001
    assert set(scores[30:]) <= set(gate.calibration_scores_[count:])


def test_outliers_never_calibrate(gate, table):
    assert gate.confirm(table, normal=False).joined == 0
    assert gate.known(table)[0] == "confirmed as an outlier before"
    with pytest.raises(SettingsError, match="outliers never join"):
        gate.confirm(table, normal=False, audited=1)


def test_the_same_twice_is_refused(gate, table):
    gate.confirm(table, normal=True, audited=1)
    with pytest.raises(DataError, match="confirmed before"):
        gate.confirm(table, normal=True, audited=1)


def test_who_calibrates_already_does_not_join_again(gate, table, tmp_path):
    part = tmp_path / "part.csv"
    part.write_text("".join(table.read_text().splitlines(keepends=True)[:41]))
    gate.confirm(part, normal=True, audited=1)
    scores, count = -gate.score_samples(table), len(gate.calibration_scores_)
    assert gate.confirm(table, normal=True, audited=1) == (20, 60, 0)
    np.testing.assert_array_equal(gate.calibration_scores_[count:], scores[40:])
    assert gate.confirmed_.joined == 60


def test_who_turns_out_to_be_an_outlier_calibrates_no_more(gate, table, tmp_path):
    """Somebody has changed her mind about the first twenty, some of whom joined after others."""
    lines = table.read_text().splitlines(keepends=True)
    late, early, both = (tmp_path / f"{name}.csv" for name in ("late", "early", "both"))
    early.write_text("".join([lines[0], *lines[11:]]))
    late.write_text("".join(lines[:11]))
    both.write_text("".join(lines[:21]))
    before = {name: values.copy() for name, values in gate.calibration_statistics_.items()}
    gate.confirm(early, normal=True, audited=1)
    gate.recalibrate(late, keep=True)  # these joined, too, and nobody confirmed them
    gate.confirm(late, normal=True, audited=1)
    assert gate.confirm(both, normal=False) == (0, 20, 20)
    assert gate.known(both) == ["confirmed as an outlier before"] * 20
    assert gate.confirmed_.joined == 40
    every = gate.statistics(table)
    for name, values in gate.calibration_statistics_.items():
        left = np.concatenate([before[name], every[name][20:], every[name][:10]])
        np.testing.assert_array_equal(values, left, err_msg=name)
    gate.save(tmp_path / "gate")
    again = Detector.load(tmp_path / "gate", device="cpu")
    assert again.confirm(table, normal=False).left == 40
    np.testing.assert_array_equal(again.calibration_scores_[-10:], every["fused"][:10])


def test_who_turns_out_to_be_normal_may_join(gate, table):
    gate.confirm(table, normal=False)
    assert gate.confirm(table, normal=True, audited=1) == (60, 60, 0)
    assert gate.known(table) == ["confirmed as normal before"] * 60


def test_each_effort_forgets_the_outlier(picture_gate):
    gate = Detector.load(picture_gate, device="cpu")
    seen = stripes(12, seed=7)
    gate.confirm(seen, normal=True, audited=1)
    gate.confirm(seen[:5], normal=False)
    learnt = gate.learnt_
    for at in (learnt, *learnt.levels.values()):
        assert {len(values) for values in at.calibration.values()} == {len(gate.calibration_scores_)}


def test_what_is_nearly_the_same_is_known(gate, picture_gate):
    table = penguins(30, seed=6)
    table["body_mass_g"] = [3700.0] * 30
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table)
    gate.confirm(frame, normal=False)
    assert None not in gate.known(frame.assign(body_mass_g=3701.0))
    assert set(gate.known(frame.assign(body_mass_g=4100.0))) == {None}
    pictures = Detector.load(picture_gate, device="cpu")
    seen = stripes(20, seed=7)
    pictures.confirm(seen[:10], normal=False)
    known = pictures.known(np.clip(seen.astype(int) + 1, 0, 255).astype(np.uint8))
    assert [said is None for said in known] == [False] * 10 + [True] * 10


def test_it_is_saved_with_the_gate_and_forgotten_by_another_fit(gate, table, tmp_path):
    gate.confirm(table, normal=True, audited=1)
    gate.save(tmp_path / "gate")
    again = Detector.load(tmp_path / "gate", device="cpu")
    assert again.known(table) == gate.known(table)
    assert again.confirmed_.joined == 60
    np.testing.assert_array_equal(again.calibration_scores_, gate.calibration_scores_)
    again.recalibrate(table)
    assert again.confirmed_.joined == 0


def test_the_report_and_explanations_say_so(dissensus, gate, table, tmp_path):
    gate.confirm(table, normal=False)
    gate.save(tmp_path / "gate")
    [found, *_] = gate.explain(table)
    assert found.known == "confirmed as an outlier before"
    assert "Such an input was looked at, and confirmed as an outlier before." in str(found)
    page = tmp_path / "page.html"
    answer = dissensus("report", tmp_path / "gate", table, "-o", page, "--shown", 1)
    assert answer.code == 0, answer.err
    record = json.loads(page.with_suffix(".json").read_text())
    assert {each["notes"][-1] for each in record["flagged_inputs"]} == {"confirmed as an outlier before"}
    assert record["most_unusual"][0]["known"] == "confirmed as an outlier before"
    assert "Such an input was looked at" in page.read_text()


def test_only_so_many_are_remembered(gate, table, monkeypatch):
    monkeypatch.setattr(confirming, "MOST_REMEMBERED", 40)
    gate.confirm(table, normal=False)
    assert [said is None for said in gate.known(table)] == [True] * 20 + [False] * 40


def test_on_the_command_line(dissensus, penguin_gate, table, tmp_path):
    gate = tmp_path / "gate"
    shutil.copytree(penguin_gate, gate)
    first = dissensus("confirm", gate, table, "--outliers")
    assert first.code == 0, first.err
    assert "60 inputs are remembered as outliers" in first.err
    rows = rows_of(dissensus("score", gate, table).out)
    assert "confirmed as an outlier before" in rows[1]["notes"]
    assert "island: Mars, never seen; confirmed as an outlier before" in rows[0]["notes"]
    assert "as outliers; 0 confirmed ones" in " ".join(dissensus("inspect", gate).out.split())
    other = dissensus("confirm", gate, table, "--normal")
    assert "0 of them joined the calibration" in other.err
    assert "--audited" in other.err
    told = dissensus("confirm", gate, table, "--normal", "--audited", "1", "-o", tmp_path / "b", "--json")
    assert told.code == 0, told.err
    assert told.json["joined"] == 60
    again = dissensus("confirm", tmp_path / "b", table, "--normal", "--audited", "1")
    assert again.code == 2
    assert "confirmed before" in again.err
    changed = dissensus("confirm", tmp_path / "b", table, "--outliers")
    assert "60 calibration inputs turned out to be outliers and left" in changed.err
    missing = dissensus("confirm", gate, table)
    assert missing.code == 2
    assert "--normal" in missing.err


@pytest.mark.parametrize(
    "change",
    [
        lambda config, _: config.pop("confirmed"),
        lambda config, _: config["confirmed"].update(joined=-1),
        lambda config, _: config["confirmed"].update(more=1),
        lambda _, arrays: arrays.pop("confirmed/said"),
        lambda _, arrays: arrays.update({"confirmed/traits": arrays["confirmed/traits"][:, :1].copy()}),
        lambda _, arrays: arrays.update({"confirmed/traits": arrays["confirmed/traits"] * np.nan}),
        lambda _, arrays: arrays.update({"confirmed/said": np.full(60, 7, np.uint8)}),
        lambda _, arrays: arrays.update({"confirmed/places": np.full(60, 10**6, np.int64)}),
        lambda _, arrays: arrays.update({"confirmed/places": np.zeros(60, np.int64)}),
    ],
    ids=["no key", "count", "unknown key", "half", "width", "nan", "truth", "nowhere", "one place"],
)
def test_a_forged_memory_is_refused(gate, table, tmp_path, change):
    from benchmarks.checks.fuzzing.gate_copy import sign

    gate.confirm(table, normal=True)
    gate.save(tmp_path / "gate")
    config_file, arrays_file = tmp_path / "gate/config.json", tmp_path / "gate/calibration.safetensors"
    config, arrays = json.loads(config_file.read_text()), load_file(arrays_file)
    change(config["detector"], arrays)
    save_file(arrays, arrays_file)
    config_file.write_text(json.dumps(config))
    sign(tmp_path / "gate")
    with pytest.raises(ArtifactError):
        Detector.load(tmp_path / "gate", device="cpu")
