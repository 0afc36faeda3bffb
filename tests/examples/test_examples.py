"""The examples run from data to result; rehearsed, because their answers are not what is tested."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SAID = {
    "images": ["clothes:", "digits:", "see report.html"],
    "table": ["flagged:", "AUROC:", "nats of disagreement"],
    "streaming": ["rows 1150 to 1199:", "the alarm came at row"],
    "own_vae": ["on the circle", "mixture-ll"],
    "embeddings": ["flagged", "gate on vectors:", "with a VAE:", "5th nearest", "gate on pixels:"],
    "own_model": ["flagged near the plane", "AUROC 0.9"],
}


def test_every_example_is_run():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SAID)


@pytest.mark.slow
@pytest.mark.parametrize("name", SAID)
def test_an_example(name, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("DISSENSUS_QUICK", "1")
    monkeypatch.chdir(tmp_path)
    found = runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    said = capsys.readouterr().out
    assert all(words in said for words in SAID[name])
    if name == "streaming":
        assert found["monitor"].alarm_at >= found["DRIFT_BEGINS"]
    if name == "images":
        assert Path("report.html").is_file()
