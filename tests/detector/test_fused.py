"""A detector that fuses: its score is what its parts give, alone, in streams, after saving, in words."""

import copy
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from dissensus import BayesianVAE
from dissensus.detector.parts import part_fractions
from dissensus.errors import ArtifactError, CalibrationWarning
from dissensus.evaluation import auroc
from dissensus.inputs import SURROUNDINGS, image_statistic_names, image_statistics, split
from dissensus.inspection import assess
from dissensus.likelihood import input_statistics
from dissensus.models import OBSERVED, VAE, DeepVAE, PixelCNN
from dissensus.models.inputs import to_tensor
from dissensus.report.gate_summary import MEANINGS, case_sentences
from dissensus.scores import SCORES, Fused, Measured, score
from dissensus.unusual import plainly

KINDS = pytest.mark.parametrize("kind", ["rows", "pictures"])
OF_MATRIX = {name for name in SCORES if not score(name).learns}


@pytest.fixture(scope="session")
def gate_of(quick, inputs):
    """Detectors that fuse by density, as if they had inliers enough and kept no rows, each made once.

    They are not among those of other tests, which with the same settings fuse by a sum.
    """
    made = {}

    def find(kind, **changes):
        key = (kind, *sorted(changes.items()))
        if key not in made:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Fused, "FEW", 0)
                made[key] = quick(effort="thorough", neighbours=False, **changes).fit(inputs[kind])
        return made[key]

    return find


def everything_known(gate, inputs):
    """The matrix and all other statistics, by the stages' own functions."""
    data = to_tensor(gate.preprocessor_.transform(inputs))
    others = input_statistics(gate.vae_, gate.draws_, data)
    if inputs.ndim == 4:
        others |= image_statistics(inputs)
    return Measured(gate.log_likelihoods(inputs).values, others)


@KINDS
@pytest.mark.parametrize("variant", [1, 2])
def test_the_score_is_a_fusion_fitted_on_the_validation_part(gate_of, inputs, kind, variant):
    gate = gate_of(kind, variant=variant)
    known = inputs[kind] if kind == "rows" else inputs[kind][..., None]
    parts = split(len(known), part_fractions(len(known)), seed=0)
    images = image_statistic_names(known.shape[1:]) if kind == "pictures" else ()
    names = (*Fused.PARTS, *images)
    fused = Fused(
        names, depth=Fused.DEPTH, leading=Fused.LEADING_ALONE
    )  # nothing is kept to be isolated from
    fused.fit(everything_known(gate, known[parts["validation"]]))
    some = known[:20]
    np.testing.assert_allclose(-gate.score_samples(some), fused(everything_known(gate, some)), rtol=1e-6)
    calibration = fused(everything_known(gate, known[parts["calibration"]]))
    np.testing.assert_allclose(gate.calibration_scores_, calibration, rtol=1e-6)


def test_what_is_fused_is_known():
    assert {*Fused.PARTS, *Fused.SURROUNDED} <= {*SCORES, *OBSERVED, *SURROUNDINGS}
    told = {name for model in (VAE, DeepVAE, PixelCNN) for name in (*model.observed, *model.further)}
    assert {*image_statistic_names((32, 32, 3)), *SCORES, *told, *SURROUNDINGS} <= set(MEANINGS)


def test_pictures_of_floats_are_coded_as_those_of_bytes(gate_of, pictures):
    gate, floats = gate_of("pictures"), (pictures[:9] / 255).astype(np.float32)
    expected = image_statistics(pictures[:9, ..., None])
    for almost in (floats, floats * 0.9999):
        found = gate.statistics(almost)
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values)
    np.testing.assert_allclose(gate.score_samples(floats), gate.score_samples(pictures[:9]), rtol=1e-4)


@KINDS
def test_every_statistic_is_given_and_none_depends_on_company(gate_of, inputs, kind):
    gate, some = gate_of(kind, variant=2), inputs[kind][:8]
    found = gate.statistics(some)
    images = set(image_statistic_names((*some.shape[1:], 1))) if kind == "pictures" else set()
    assert set(found) == {"fused", "whitened"} | OF_MATRIX | set(OBSERVED) | images
    assert next(iter(found)) == "fused"
    np.testing.assert_array_equal(found["fused"], -gate.score_samples(some))
    assert set(gate.calibration_statistics_) == set(found)
    for n in (0, 7):
        alone = gate.statistics(some[n : n + 1])
        for name, values in found.items():
            np.testing.assert_allclose(alone[name], values[n], rtol=1e-6, err_msg=name)


@KINDS
def test_streams_and_chunks_are_scored_as_arrays(gate_of, inputs, kind, tmp_path, monkeypatch):
    from dissensus.detector import inputs as detector_inputs
    from dissensus.detector import streaming

    gate, some = gate_of(kind), inputs[kind][:23]
    np.save(tmp_path / "some.npy", some)
    expected = gate.decide(some)
    for module in (detector_inputs, streaming):
        monkeypatch.setattr(module, "chunk_rows", lambda _: 7)
    np.testing.assert_allclose(gate.decide(tmp_path / "some.npy").score, expected.score, rtol=1e-6)
    rows = list(gate.decide_stream(tmp_path / "some.npy"))
    np.testing.assert_allclose([row.score for row in rows], expected.score, rtol=1e-6)
    assert [row.flagged for row in rows] == expected.flagged.tolist()


@pytest.mark.parametrize("keep", [False, True])
def test_recalibration(gate_of, rows, keep):
    gate = copy.copy(gate_of("rows"))
    old, before = gate.calibration_scores_, gate.score_samples(rows)
    gate.recalibrate(rows[:40], keep=keep)
    fresh = -before[:40]
    expected = np.concatenate([old, fresh]) if keep else fresh
    np.testing.assert_allclose(gate.calibration_scores_, expected, rtol=1e-6)
    assert {len(values) for values in gate.calibration_statistics_.values()} == {len(expected)}
    np.testing.assert_array_equal(gate.score_samples(rows), before)


def test_threads_do_not_disturb_each_other(gate_of, pictures):
    gate = gate_of("pictures")
    batches = [pictures[start : start + 5] for start in range(0, 40, 5)]
    expected = [gate.score_samples(batch) for batch in batches]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(gate.score_samples, batches))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("count", [5, 7, 30])
@pytest.mark.filterwarnings("ignore::dissensus.errors.CalibrationWarning")
def test_few_rows_and_constant_columns(quick, count):
    few = np.random.default_rng(0).normal(size=(count, 3)) * [1, 0, 2]
    gate = quick(statistic="fused").fit(few)
    assert np.isfinite(gate.score_samples(few)).all()
    assert np.isfinite(gate.score_samples(np.full((1, 3), 1e300))).all()
    alike = quick(statistic="fused").fit(np.ones((count, 2)))
    assert np.isfinite(alike.score_samples(np.ones((2, 2)))).all()


def test_too_few_to_flag_says_so(quick):
    with pytest.warns(CalibrationWarning, match="nothing will be flagged"):
        quick(statistic="fused", false_alarm_rate=0.01).fit(np.random.default_rng(0).normal(size=(30, 3)))


def test_far_rows_are_found_whichever_column_they_are_far_in(quick, rows):
    gate = quick(statistic="fused", epochs=20).fit(rows)
    far = np.repeat(rows[:20], 4, axis=0) + np.tile(np.diag([30, 300, 3, 30]), (20, 1))
    assert auroc(-gate.score_samples(rows), -gate.score_samples(far)) > 0.98


# ---- saving


@pytest.fixture
def saved(gate_of, tmp_path):
    def save(kind):
        gate_of(kind).save(tmp_path / "gate")
        return tmp_path / "gate"

    return save


@KINDS
def test_it_comes_back_from_a_folder(gate_of, saved, inputs, kind):
    gate, again = gate_of(kind), BayesianVAE.load(saved(kind), device="cpu")
    for one, other in zip(again.decide(inputs[kind]), gate.decide(inputs[kind]), strict=True):
        np.testing.assert_array_equal(one, other)
    found, expected = again.explain(inputs[kind][0]), gate.explain(inputs[kind][0])
    assert found.surprises == pytest.approx(expected.surprises)
    assert found.statistics.keys() == expected.statistics.keys()
    assert [s.percentile for s in found.statistics.values()] == [
        s.percentile for s in expected.statistics.values()
    ]


def test_a_detector_that_does_not_fuse_says_nothing_of_it(fitted, tmp_path):
    fitted("rows", statistic="kl").save(tmp_path / "gate")
    config = json.loads((tmp_path / "gate/config.json").read_text("utf-8"))["detector"]
    assert config["score"] == {"score": "kl", "config": {}}
    assert not any(n.startswith("score/") for n in load_file(tmp_path / "gate/calibration.safetensors"))


def tampered(folder, change, arrays=lambda content: content):
    """Changes a saved gate and makes its digests right again."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    change(config["detector"])
    path = folder / "calibration.safetensors"
    save_file(arrays(load_file(path)), path)
    config["files"][path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    config.pop("digest")
    config["digest"] = hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()
    (folder / "config.json").write_text(json.dumps(config), "utf-8")


def without(prefix):
    return lambda content: {n: a for n, a in content.items() if not n.startswith(prefix)}


def nothing(config):
    """Changes nothing."""


def fused(config):
    """What a saved gate says of its fusion."""
    return config["score"]["config"]


def whitened(config):
    """Says everywhere that it does not fuse."""
    config["settings"]["statistic"] = "whitened"
    config["score"] = {"score": "whitened", "config": {}}


FALSE = {
    "a part there is not": (
        lambda c: fused(c)["statistics"].append("aura"),
        "'fused' requires 'aura', which is no statistic of such inputs here",
    ),
    "a code's length of rows": (lambda c: fused(c)["statistics"].append("code-length"), "code-length"),
    "a part that is none": (lambda c: fused(c)["statistics"].append([1]), "must be names of scores"),
    "itself": (lambda c: fused(c)["statistics"].append("fused"), "must be names of scores"),
    "a part that was not learnt": (lambda c: fused(c)["statistics"].append("std"), "state is of a fusion"),
    "a leader that is no part": (lambda c: fused(c).update(leading=["std"]), "leading"),
    "another depth": (lambda c: fused(c).update(depth="gaussian"), "not the state of this fusion's depth"),
    "no word of what is fused": (lambda c: c["score"].pop("config"), "score lacks 'config'"),
    "another statistic": (lambda c: c["settings"].update(statistic="whitened"), "not the name of its score"),
    "another score": (whitened, "not the state of whitened"),
}


@pytest.mark.parametrize(("change", "message"), FALSE.values(), ids=FALSE)
def test_a_false_claim_is_refused_when_it_is_loaded(saved, change, message):
    folder = saved("rows")
    tampered(folder, change)
    with pytest.raises(ArtifactError, match=message) as error:
        BayesianVAE.load(folder, device="cpu")
    assert "\n" not in str(error.value)


DAMAGED = {
    "no whitener": (without("score/whitened/whitener"), "not the state of whitened"),
    "no fusion": (without("score/fusion/sums"), "not the state of a fusion"),
    "the whitener of other draws": (
        lambda a: {
            **a,
            "score/whitened/mean": np.zeros(3),
            "score/whitened/whitener": np.eye(3),
        },
        "fitted on 3 draws, but the matrix has 4",
    ),
    "a distribution that is none": (
        lambda a: {**a, "score/fusion/sums/knots": a["score/fusion/sums/knots"][::-1].copy()},
        "marginal distribution",
    ),
}


@pytest.mark.parametrize(("arrays", "message"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_arrays_are_refused_when_they_are_loaded(saved, arrays, message):
    folder = saved("rows")
    tampered(folder, nothing, arrays)
    with pytest.raises(ArtifactError, match=message) as error:
        BayesianVAE.load(folder, device="cpu")
    assert "\n" not in str(error.value)


# ---- in words


@KINDS
def test_explanations_say_what_carries_the_score(gate_of, inputs, kind):
    gate, some = gate_of(kind), inputs[kind][:6]
    statistics = gate.statistics(some)
    surprises = gate.score_.surprises(everything_known(gate, some if kind == "rows" else some[..., None]))
    for n, found in enumerate(gate.explain(some)):
        assert list(found.surprises.values()) == sorted(found.surprises.values(), reverse=True)
        assert found.surprises == pytest.approx({name: v[n] for name, v in surprises.items()}, rel=1e-4)
        assert set(found.surprises) == set(gate.score_.statistics)
        assert set(found.statistics) == set(statistics)
        for name, (value, percentile) in found.statistics.items():
            assert value == pytest.approx(statistics[name][n], rel=1e-5)
            calibration = gate.calibration_statistics_[name]
            assert percentile == pytest.approx(100 * np.mean(calibration < value))
        assert found.decision.score == found.statistics["fused"].value
        summary = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        assert list(summary["surprises"]) == list(found.surprises)


def test_other_detectors_have_no_surprises(fitted, rows):
    gate = fitted("rows", statistic="kl")
    assert gate.explain(rows[0]).surprises == {}
    assert set(gate.statistics(rows[:2])) == OF_MATRIX


def test_reports_name_the_carriers(gate_of, pictures):
    gate = gate_of("pictures")
    strange = np.concatenate([pictures[:3], np.zeros((1, 10, 12), np.uint8)])
    found = assess(gate, strange, shown=4)
    blank = next(case for case in found.unusual if case.position == 3)
    names = list(blank.explanation.surprises)
    sentence = case_sentences(blank)[1]
    standing = blank.explanation.statistics[names[0]]
    assert sentence.startswith(f"What is unusual: {plainly(names[0], standing.percentile, '')}")
    calm = copy.copy(blank)
    object.__setattr__(calm, "explanation", copy.copy(blank.explanation))
    object.__setattr__(calm.explanation, "surprises", dict.fromkeys(names, 1.0))
    assert case_sentences(calm)[1].startswith("Nothing about it is unusual by itself")


def test_the_card_says_what_is_fused(saved):
    card = (saved("pictures") / "README.md").read_text("utf-8")
    assert "| statistic | fused |" in card
    assert "whitened, corrected-ll, kl" in card
    assert "code-length" in card
    assert "or what they find unusual in another way, is unlike" in card


def test_the_commands_know_it(rows, tmp_path):
    from typer.testing import CliRunner

    from dissensus.cli import app

    def run(*arguments):
        answer = CliRunner().invoke(app, [str(a) for a in arguments])
        assert answer.exit_code == 0, answer.output
        return answer.stdout

    np.save(tmp_path / "rows.npy", rows)
    gate, data = tmp_path / "gate", tmp_path / "rows.npy"
    few = ["--epochs", 2, "--draws", 4, "--samples", 2, "--false-alarm-rate", 0.2, "--device", "cpu"]
    fitted = json.loads(run("fit", data, "-o", gate, "--statistic", "fused", *few, "--json"))
    assert fitted["statistic"] == "fused"
    assert json.loads(run("inspect", gate, "--json"))["statistic"] == "fused"
    assert "scores with fused: how few normal inputs are as unusual" in " ".join(run("inspect", gate).split())
    explained = json.loads(run("explain", gate, data, "--json"))
    assert set(explained["surprises"]) == {"nearest", "isolation", "gaussians", "mean-ll"}
    assert "What carries the score" in run("explain", gate, data)
    run("fit", data, "-o", gate, "--no-neighbours", *few)
    explained = json.loads(run("explain", gate, data, "--json"))
    assert set(explained["surprises"]) == {"mixture-ll"}  # all that a flow tells
