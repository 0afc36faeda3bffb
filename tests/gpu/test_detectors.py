"""Detectors on a GPU, from the fit to a gate that is loaded where there is none."""

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from dissensus import BayesianVAE, Detector
from dissensus.cli import app
from dissensus.detector.settings import find_device
from dissensus.errors import SettingsError
from dissensus.models.vae.half_precision import TOLERANCE
from tests.contracts.own_embedders import Net

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("whole_self_test")]
GPU = "cuda"
QUICK = {
    "epochs": 4,
    "draws": 4,
    "samples": 4,
    "widths": (8,),
    "latent_size": 2,
    "batch_size": 16,
    "false_alarm_rate": 0.2,
    "device": GPU,
}
RANDOM = np.random.default_rng(0)
INPUTS = {
    "rows": RANDOM.normal(size=(100, 4)) * [1, 10, 0.1, 1] + [0, 5, 0, 100],
    "pictures": (RANDOM.integers(0, 120, (80, 10, 12)) + np.linspace(130, 0, 12)).astype(np.uint8),
}
KINDS = pytest.mark.parametrize("kind", INPUTS)


@pytest.fixture(scope="module")
def gates(whole_self_test):
    return {kind: BayesianVAE(**QUICK, statistic="fused").fit(X) for kind, X in INPUTS.items()}


def test_devices_by_name():
    assert find_device("auto").type == "cuda"
    assert find_device("cuda") == torch.device("cuda")
    with pytest.raises(SettingsError, match="device='cuda:99' is not there"):
        find_device("cuda:99")


@KINDS
def test_a_gate_of_a_gpu_says_the_same_on_a_cpu(gates, kind, tmp_path):
    gate, X = gates[kind], INPUTS[kind]
    gate.save(tmp_path / "gate")
    here, there = (Detector.load(tmp_path / "gate", device=where) for where in (GPU, "cpu"))
    np.testing.assert_array_equal(here.score_samples(X), gate.score_samples(X))
    expected, found = gate.log_likelihoods(X).values, there.log_likelihoods(X).values
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=TOLERANCE)
    # A p-value moves by a step or two of a few held-out inputs, where scores lie close together.
    assert np.abs(there.p_values(X) - gate.p_values(X)).mean() < 0.05
    assert (there.predict(X) == gate.predict(X)).mean() > 0.9


@KINDS
def test_a_gate_of_a_cpu_says_the_same_on_a_gpu(kind, tmp_path):
    X = INPUTS[kind]
    gate = BayesianVAE(**{**QUICK, "device": "cpu"}).fit(X)
    gate.save(tmp_path / "gate")
    found = Detector.load(tmp_path / "gate", device=GPU).log_likelihoods(X).values
    np.testing.assert_allclose(found, gate.log_likelihoods(X).values, rtol=1e-5, atol=TOLERANCE)


@KINDS
def test_an_input_scores_the_same_alone_and_in_a_stream(gates, kind):
    gate, X = gates[kind], INPUTS[kind]
    scores = gate.decide(X).score
    assert len(set(scores)) > 40
    for n in (0, 5, 79):
        assert gate.decide(X[n : n + 1]).score.tolist() == [scores[n]]
    assert [row.score for row in gate.decide_stream(X)] == scores.tolist()


@KINDS
def test_the_same_seed_gives_the_same_detector(kind):
    with torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
        first, second = (BayesianVAE(**QUICK).fit(INPUTS[kind]) for _ in range(2))
    np.testing.assert_array_equal(first.calibration_scores_, second.calibration_scores_)


@KINDS
def test_explanations(gates, kind):
    gate, x = gates[kind], INPUTS[kind][0]
    (explained,) = gate.explain(x[None])
    assert np.isfinite(explained.disagreement).all()
    assert explained.decision.score == gate.decide(x[None]).score[0]
    assert len(explained.neighbours) == 5


def test_a_module_on_a_gpu_embeds_like_its_copy_on_a_cpu(tmp_path):
    squares = RANDOM.integers(0, 256, (80, 8, 8), dtype=np.uint8)
    net = Net().to(GPU)
    gate = BayesianVAE(**QUICK, embed=net).fit(squares)
    scores = gate.decide(squares).score
    for n in (0, 41):
        assert gate.decide(squares[n : n + 1]).score.tolist() == [scores[n]]
    gate.save(tmp_path / "gate")
    # The digest of the weights is the same wherever they are.
    other = Detector.load(tmp_path / "gate", device="cpu", embed=Net())
    expected, found = gate.log_likelihoods(squares).values, other.log_likelihoods(squares).values
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-2)


def test_the_command_line(tmp_path):
    np.save(tmp_path / "rows.npy", INPUTS["rows"])
    fit = ["fit", "rows.npy", "-o", "gate", "--epochs", "4", "--draws", "4", "--samples", "2"]
    written = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        answer = CliRunner().invoke(app, [*fit, "--false-alarm-rate", "0.2", "--device", GPU])
        assert answer.exit_code == 0, answer.output
        for where in (GPU, "cpu"):
            answer = CliRunner().invoke(
                app, ["score", "gate", "rows.npy", "--device", where, "-o", f"{where}.csv"]
            )
            assert answer.exit_code == 0, answer.output
            written[where] = (tmp_path / f"{where}.csv").read_text().splitlines()
    assert len(written[GPU]) == len(written["cpu"]) == 101
