"""An exported gate says what the gate says, by onnxruntime alone."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import log_ndtr, ndtri_exp

from dissensus import BayesianVAE, Detector
from dissensus.errors import SettingsError
from dissensus.export import agreement, export_gate, session_of
from dissensus.export.normal_scores import log_tail, tail_score
from dissensus.scores import Fused

QUICK = {"epochs": 6, "draws": 4, "widths": (8,), "latent_size": 2, "batch_size": 16, "device": "cpu"}
SHAPES = {"grey": (10, 12, 1), "colour": (9, 8, 3)}


def pictures_of(shape, count=160):
    rng = np.random.default_rng(1)
    ramp = np.linspace(130, 0, shape[1])[None, :, None]
    return (rng.integers(0, 120, (count, *shape)) + ramp).astype(np.uint8)


@pytest.fixture(scope="module")
def gate_of():
    made = {}

    def find(kind, depth):
        if (kind, depth) not in made:
            with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                patch.setattr(Fused, "FEW", 0 if depth == "mixture" else 10**6)
                gate = BayesianVAE(**QUICK, false_alarm_rate=0.2)
                made[kind, depth] = gate.fit(pictures_of(SHAPES[kind]))
        return made[kind, depth]

    return find


@pytest.mark.parametrize(
    ("kind", "depth", "effort"), [("grey", "sum", "standard"), ("colour", "mixture", "fast")]
)
def test_scores_p_values_and_verdicts_are_the_gate_s(gate_of, kind, depth, effort, tmp_path):
    gate, shape = gate_of(kind, depth), SHAPES[kind]
    gate.effort = effort
    assert gate.score_.fusion.depth == depth
    export_gate(gate, tmp_path / "gate.onnx")
    noise = np.random.default_rng(2).integers(0, 256, (20, *shape), dtype=np.uint8)
    asked = np.concatenate([pictures_of(shape)[:60], noise, np.zeros((1, *shape), np.uint8)])
    ours = gate.decide(asked)
    score, p_value, flagged = session_of(tmp_path / "gate.onnx", threads=1).run(None, {"pixels": asked})
    np.testing.assert_allclose(score, ours.score, atol=2e-3, rtol=1e-3)
    assert np.abs(p_value - ours.p_value).max() <= 2 / len(gate.calibration_scores_)
    assert (flagged != ours.flagged).sum() <= 1
    assert 0 < flagged.sum() < len(asked)
    found = agreement(gate, tmp_path / "gate.onnx", asked)
    assert found.inputs == len(asked)
    assert found.same_verdicts >= len(asked) - 1


@pytest.mark.parametrize("columns", [3, 70])
def test_rows_are_scored_as_the_gate_scores_them(columns, tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, columns)) * rng.gamma(1, size=columns) + 5
    gate = Detector(epochs=3, false_alarm_rate=0.2, device="cpu").fit(rows)
    export_gate(gate, tmp_path / "gate.onnx")
    asked = np.concatenate([rows[:40], rows[:10] + 1e-9, 3 * rng.normal(size=(20, columns)), 1e9 * rows[:1]])
    ours = gate.decide(asked)
    score, p_value, flagged = session_of(tmp_path / "gate.onnx", threads=1).run(None, {"rows": asked})
    np.testing.assert_allclose(score, ours.score, atol=2e-3, rtol=1e-3)
    assert np.abs(p_value - ours.p_value).max() <= 2 / len(gate.calibration_scores_)
    assert (flagged != ours.flagged).sum() <= 1


def test_normal_scores_and_their_inverse_are_scipy_s():
    z = np.array([-5.0, -1.0, -0.1, 0.0, 0.5, 1.0, 2.0, 5.0, 12.0, 60.0])
    np.testing.assert_allclose(log_tail(torch.from_numpy(z)), log_ndtr(-z), rtol=3e-7, atol=3e-7)
    log_p = np.array([-1.2, -1.4, -2.0, -3.0, -10.0, -50.0, -700.0, -7000.0])
    np.testing.assert_allclose(tail_score(torch.from_numpy(log_p)), -ndtri_exp(log_p), rtol=1e-6)


def test_what_cannot_be_exported_says_so(gate_of, tmp_path):
    gate = gate_of("grey", "sum")
    gate.effort = "thorough"
    with pytest.raises(SettingsError, match="choose fast or standard"):
        export_gate(gate, tmp_path / "gate.onnx")
    rows = np.random.default_rng(0).normal(size=(80, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        of_vae, of_table = BayesianVAE(**QUICK).fit(rows), Detector(epochs=2, device="cpu")
        of_table.fit(pd.DataFrame(rows, columns=["a", "b", "c"]))
        by_kl = BayesianVAE(**QUICK, statistic="kl").fit(rows)
    for own, words in (
        (of_vae, "samples of a VAE"),
        (of_table, "no columns of words"),
        (by_kl, "score 'kl'"),
    ):
        with pytest.raises(SettingsError, match=words):
            export_gate(own, tmp_path / "gate.onnx")
    assert not list(tmp_path.iterdir())


def test_the_command_compares_what_it_wrote(gate_of, tmp_path):
    from typer.testing import CliRunner

    from dissensus.cli import app

    gate_of("grey", "sum").save(tmp_path / "gate")
    command = ["export", str(tmp_path / "gate"), str(tmp_path / "gate.onnx"), "--json"]
    said = json.loads(CliRunner().invoke(app, command, catch_exceptions=False).stdout)
    assert said["compared"]["inputs"] >= 64
    assert said["compared"]["largest_difference"] < 1e-3
    assert said["input"]["shape"] == ["inputs", 10, 12, 1]
    printed = CliRunner().invoke(app, [*command[:2], "-", "--quiet"], catch_exceptions=False)
    assert printed.stdout_bytes == (tmp_path / "gate.onnx").read_bytes()
    refused = CliRunner().invoke(app, [*command, "--effort", "thorough"])
    assert refused.exit_code != 0


def test_the_example_takes_onnxruntime_and_numpy_alone():
    code = (
        "import ast, pathlib; tree = ast.parse(pathlib.Path('examples/edge.py').read_text('utf-8'));"
        "print(sorted({a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "['numpy', 'onnxruntime']"
