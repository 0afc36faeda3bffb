"""The examples run from data to result; rehearsed, because their answers are not what is tested."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from dissensus import BayesianVAE
from dissensus.export import export_gate

EXAMPLES = Path(__file__).parents[2] / "examples"
SAID = {
    "images": ["clothes:", "digits:", "see report.html"],
    "table": ["flagged:", "AUROC:", "of the nearest benign rows"],
    "streaming": ["rows 1150 to 1199:", "the alarm came at row"],
    "own_vae": ["on the circle", "mixture-ll"],
    "embeddings": ["flagged", "gate on vectors:", "with a VAE:", "5th nearest", "gate on pixels:"],
    "own_model": ["flagged near the plane", "AUROC 0.9"],
    "edge": ["picture 2: score", "p-value"],
}


ELSEWHERE = {"latent_bo"}  # takes BoTorch: tests/integrations


def test_every_example_is_run():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SAID) | ELSEWHERE


def export_small_gate():
    pictures = np.random.default_rng(0).integers(0, 99, (80, 8, 9), dtype=np.uint8)
    gate = BayesianVAE(
        epochs=2, draws=2, widths=(4,), latent_size=2, false_alarm_rate=0.2, effort="fast", device="cpu"
    )
    export_gate(gate.fit(pictures), "gate.onnx")


@pytest.mark.slow
@pytest.mark.parametrize("name", SAID)
def test_an_example(name, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("DISSENSUS_QUICK", "1")
    monkeypatch.chdir(tmp_path)
    if name == "edge":
        export_small_gate()
    found = runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert all(words in said for words in SAID[name])
    if name == "streaming":
        assert found["monitor"].alarm_at >= found["DRIFT_BEGINS"]
    if name == "images":
        assert Path("report.html").is_file()
