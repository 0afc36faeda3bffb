"""An assessment says the same as the gate, whatever the inputs come from, and passes as it should."""

import json

import numpy as np
import pytest
from PIL import Image
from scipy.stats import binom

from dissensus import BayesianVAE
from dissensus.errors import DataError, SettingsError
from dissensus.inputs import TableFile
from dissensus.inspection import Assessment, assess, assessing

TINY = {"epochs": 4, "draws": 4, "samples": 4, "widths": (8,), "latent_size": 2, "batch_size": 16}


@pytest.fixture(scope="module")
def seen_rows():
    return np.random.default_rng(0).normal(size=(200, 3))


@pytest.fixture(scope="module")
def small_gate(seen_rows):
    return BayesianVAE(**TINY, false_alarm_rate=0.1, device="cpu").fit(seen_rows)


@pytest.fixture(scope="module")
def photo_gate():
    photos = np.random.default_rng(1).integers(0, 256, (80, 9, 10), np.uint8)
    return BayesianVAE(**TINY, false_alarm_rate=0.1, device="cpu").fit(photos)


@pytest.fixture
def photo_folder(tmp_path):
    random = np.random.default_rng(2)
    (tmp_path / "photos/deep").mkdir(parents=True)
    for name in ("a.png", "deep/b.png", "c.png", "d.png"):
        Image.fromarray(random.integers(0, 256, (9, 10), np.uint8)).save(tmp_path / "photos" / name)
    (tmp_path / "photos/broken.png").write_bytes(b"no picture")
    return tmp_path / "photos"


def _made_up(flagged, count, *, calibration=99, rate=0.1):
    """An assessment of which only the counts matter."""
    flags = np.arange(count) < flagged
    settings = {"false_alarm_rate": rate}
    return Assessment(
        "x", np.where(flags, 9.0, 0.0), np.ones(count), flags, (), (), (), np.zeros(calibration), 1.0,
        settings, None, 0.0, np.zeros(count), None,
    )  # fmt: skip


def test_the_numbers_are_the_gates(small_gate, seen_rows, monkeypatch):
    monkeypatch.setattr(assessing, "BATCH", 7)  # several chunks, the last one short
    asked = np.concatenate([seen_rows[:40], seen_rows[:5] + 50])
    calls = []
    found = assess(small_gate, asked, shown=3, on_progress=lambda *call: calls.append(call))
    decisions = small_gate.decide(asked)
    np.testing.assert_allclose(found.scores, decisions.score, rtol=1e-6)
    np.testing.assert_allclose(found.p_values, decisions.p_value)
    np.testing.assert_array_equal(found.flagged, decisions.flagged)
    order = np.argsort(decisions.score, kind="stable")
    assert [case.name for case in found.typical] == order[:3].tolist()
    assert [case.name for case in found.unusual] == np.argsort(-decisions.score, kind="stable")[:3].tolist()
    for case in (*found.typical, *found.unusual):
        np.testing.assert_array_equal(case.explanation.input, asked[case.name])
        assert case.explanation.decision.score == pytest.approx(decisions.score[case.name])
    assert calls[-1] == ("assessing", 1000, 1000)
    assert len(calls) == 7


def test_a_limit(small_gate, seen_rows, monkeypatch):
    monkeypatch.setattr(assessing, "BATCH", 7)
    for limit in (1, 7, 10):
        found = assess(small_gate, seen_rows, shown=0, limit=limit)
        assert len(found) == limit
        assert found.unusual == found.typical == ()
    np.testing.assert_allclose(found.scores, small_gate.decide(seen_rows[:10]).score, rtol=1e-6)


def test_a_folder_with_a_broken_picture(photo_gate, photo_folder):
    with pytest.raises(DataError, match=r"broken\.png"):
        assess(photo_gate, photo_folder)
    found = assess(photo_gate, photo_folder, on_error="skip")
    assert len(found) == 4
    assert {case.name for case in found.unusual} == {"a.png", "c.png", "d.png", "deep/b.png"}
    assert [name for name, _ in found.unreadable] == ["broken.png"]
    assert found.source == str(photo_folder)
    json.dumps(found.to_dict(), allow_nan=False)


def test_a_file_of_rows(small_gate, seen_rows, tmp_path):
    np.save(tmp_path / "rows.npy", seen_rows)
    from_file = assess(small_gate, tmp_path / "rows.npy", shown=1)
    in_memory = assess(small_gate, seen_rows, shown=1, source="memory")
    np.testing.assert_array_equal(from_file.scores, in_memory.scores)
    assert in_memory.source == "memory"


def test_a_table_names_its_columns_and_rows(tmp_path):
    random = np.random.default_rng(3)
    lines = [f"r{n},{random.normal():.6f},{random.choice(['red', 'blue'])}" for n in range(120)]
    (tmp_path / "table.csv").write_text("\n".join(["id,size,colour", *lines]) + "\n")
    plain = [line.split(",", 1)[1] for line in lines]
    (tmp_path / "plain.csv").write_text("\n".join(["size,colour", *plain]) + "\n")
    gate = BayesianVAE(**TINY, false_alarm_rate=0.2, device="cpu").fit(tmp_path / "plain.csv")
    found = assess(gate, TableFile(tmp_path / "table.csv", id_column="id"), shown=2, limit=30)
    assert len(found) == 30
    assert str(found.unusual[0].name).startswith("r")
    assert found.unusual[0].explanation.columns == ("size", "colour=blue", "colour=red", "colour is unseen")


def test_nothing_to_assess(small_gate):
    with pytest.raises(DataError):
        assess(small_gate, np.empty((0, 3)))
    with pytest.raises(SettingsError, match="limit=0"):
        assess(small_gate, np.zeros((1, 3)), limit=0)
    with pytest.raises(SettingsError, match="level"):
        _made_up(1, 10).passed(0)


def test_the_rule():
    assert _made_up(0, 50).passed()
    assert _made_up(0, 50).chance == 1
    assert not _made_up(50, 50).passed()
    # So many calibration inputs that the threshold is as good as known: the binomial law.
    known = _made_up(30, 200, calibration=10**6 - 1)
    assert known.chance == pytest.approx(binom(200, 0.1).sf(29), rel=1e-3)
    # Fewer of them excuse more.
    assert _made_up(30, 200, calibration=99).chance > known.chance
    # With too few nothing can be flagged.
    assert _made_up(0, 20, calibration=5).expected == (0, 0)


@pytest.mark.parametrize(("calibration", "count"), [(99, 50), (399, 200)])
def test_the_chance_is_what_happens(calibration, count):
    """Over simulated gates and inputs, as many fail as the level allows, and not far fewer."""
    random = np.random.default_rng(4)
    scores = np.sort(random.random((4000, calibration)), axis=1)
    threshold = scores[:, -int(0.1 * (calibration + 1))]
    flagged = (random.random((4000, count)) > threshold[:, None]).sum(axis=1)
    chances = {k: _made_up(k, count, calibration=calibration).chance for k in np.unique(flagged).tolist()}
    p = np.array([chances[k] for k in flagged.tolist()])
    for level in (0.01, 0.05, 0.2):
        realised, error = np.mean(p < level), np.sqrt(level * (1 - level) / 4000)
        assert realised <= level + 3 * error
        assert realised > level / 3


def test_drift_is_noticed(small_gate, seen_rows):
    random = np.random.default_rng(5)
    calm = random.normal(size=(300, 3))
    assert assess(small_gate, calm, shown=0).drift_alarm is None
    shifted = np.concatenate([calm, random.normal(size=(100, 3)) * 4])
    alarm = assess(small_gate, shifted, shown=0).drift_alarm
    assert alarm is not None
    assert alarm >= 300


def test_an_input_that_cannot_be_scored_is_named(tmp_path):
    rows = np.random.default_rng(3).normal(size=(120, 2))
    path, new = tmp_path / "rows.csv", tmp_path / "new.csv"
    np.savetxt(path, rows, delimiter=",", header="a1,b1", comments="")
    new.write_text("a1,b1\n0,0\n0,x\n")
    gate = BayesianVAE(**TINY, device="cpu", false_alarm_rate=0.1).fit(TableFile(path))
    with pytest.raises(DataError, match="row 1: column 'b1' holds 'x'"):
        assess(gate, new)
