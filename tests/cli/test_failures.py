import builtins
import os
import subprocess
import sys

import pytest

from dissensus.cli.failures import speaking_of
from dissensus.errors import (
    ArtifactError,
    CheckpointError,
    DataError,
    DivergenceError,
    InUseError,
    OutputError,
    SettingsError,
)
from tests import warm_python


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (DataError("the data"), 2, "the data\n"),
        (SettingsError("the [bold]setting[/bold]"), 2, "the [bold]setting[/bold]\n"),
        (ArtifactError("the gate"), 2, "the gate\n"),
        (CheckpointError("the checkpoint"), 2, "the checkpoint\n"),
        (InUseError("the other"), 2, "the other\n"),
        (DivergenceError("the chain"), 3, "the chain\n"),
        (OutputError("the disk"), 3, "the disk\n"),
        (OSError(28, "No space left on device", "/full"), 3, "/full: No space left on device\n"),
        (MemoryError(), 3, "not enough memory"),
        (RuntimeError("a bug"), 3, "unexpected RuntimeError: a bug"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
    ],
)
def test_one_sentence_and_a_code(dissensus, monkeypatch, tmp_path, error, code, words):
    def fail(*_):
        raise error

    monkeypatch.setattr("dissensus.cli.fit.check_output", fail)
    answer = dissensus("fit", "x.npy", "-o", tmp_path / "gate")
    assert (answer.code, answer.out) == (code, "")
    assert words in answer.err
    assert "Traceback" not in answer.err


def test_debugging_shows_where(dissensus, monkeypatch, tmp_path):
    from typer.testing import CliRunner

    from dissensus.cli import app

    monkeypatch.setenv("DISSENSUS_DEBUG", "1")
    result = CliRunner().invoke(app, ["fit", str(tmp_path / "none.npy"), "-o", str(tmp_path / "gate")])
    assert isinstance(result.exception, DataError)


@pytest.mark.parametrize("package", ["matplotlib", "jinja2"])
def test_demo_without_what_the_report_needs(dissensus, monkeypatch, tmp_path, package):
    real_import = builtins.__import__

    def without_it(name, *rest, **named):
        if name.startswith(package):
            raise ImportError(name)
        return real_import(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without_it)
    answer = dissensus("demo", "-o", tmp_path / "report")
    assert answer.code == 2
    assert f"needs {package}: pip install 'dissensus[report]'" in answer.err


def test_only_the_detectors_x_is_renamed():
    with pytest.raises(DataError, match=r"^rows\.npy holds X and Y$"), speaking_of("rows.npy"):
        raise DataError("X holds X and Y")
    with pytest.raises(DataError, match=r"^Xavier/X is no file$"), speaking_of("rows.npy"):
        raise DataError("Xavier/X is no file")
    with pytest.raises(SettingsError, match=r"^X$"), speaking_of("rows.npy"):
        raise SettingsError("X")


def test_a_reader_that_leaves_early(gate, images_file):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "dissensus", "score", gate, images_file, "-q"]
    answer = warm_python.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (answer.returncode, answer.stderr) == (141, "")
