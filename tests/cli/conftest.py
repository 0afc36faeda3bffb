"""The command line as a person uses it, with data and settings so small that a fit takes a second."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

SMALL = ["--epochs", "4", "--draws", "4", "--samples", "2", "--latent-size", "2", "--false-alarm-rate", "0.5"]


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def without_figures(monkeypatch):
    """Pages lack their figures, which take half a second; tests/report and tests/everyday look at these."""
    monkeypatch.setattr("dissensus.report.gate_figures.svg", lambda *_, alt, **__: f"<svg>{alt}</svg>")


@pytest.fixture(scope="session")
def dissensus():
    """Runs a command line and gives its exit code, stdout and stderr."""
    from dissensus.cli import app

    def call(*arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        return Answer(result.exit_code, result.stdout, result.stderr)

    return call


@pytest.fixture(scope="session")
def fit(dissensus):
    """``dissensus fit`` with small settings."""
    return lambda data, output, *more: dissensus("fit", data, "-o", output, *SMALL, *more)


def stripes(count, seed=0, shape=(8, 8)):
    """Grey images (N, H, W) with structure and some noise."""
    rng = np.random.default_rng(seed)
    wave = np.sin(np.arange(shape[1]) + rng.uniform(0, 3, (count, 1, 1)))
    return np.uint8(120 + 80 * wave + rng.integers(0, 40, (count, *shape)))


@pytest.fixture(scope="session")
def images_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("arrays") / "images.npy"
    np.save(path, stripes(60))
    return path


@pytest.fixture(scope="session")
def gate(fit, images_file, tmp_path_factory):
    """A gate for 8×8 grey images."""
    folder = tmp_path_factory.mktemp("gates") / "gate"
    answer = fit(images_file, folder)
    assert answer.code == 0, answer.err
    return folder


@pytest.fixture
def folder(tmp_path):
    """A nested folder of seven grey pictures."""
    root = tmp_path / "pictures"
    (root / "deep").mkdir(parents=True)
    for number, pixels in enumerate(stripes(7, seed=1)):
        Image.fromarray(pixels).save(root / ("deep" if number % 2 else ".") / f"{number}.png")
    return root
