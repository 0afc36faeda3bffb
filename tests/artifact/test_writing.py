"""Saving replaces a detector as a whole or leaves all as it was, and never touches what is no detector."""

import errno
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from dissensus import BayesianVAE
from dissensus.errors import ArtifactError, OutputError
from dissensus.persistence import artifact, reading


@pytest.fixture(scope="module")
def other(rows):
    return BayesianVAE(epochs=2, draws=2, samples=2, false_alarm_rate=0.2, random_state=1).fit(rows)


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")
    }


def test_an_older_detector_is_replaced(saved, other, rows):
    other.save(saved)
    np.testing.assert_allclose(
        BayesianVAE.load(saved).score_samples(rows), other.score_samples(rows), rtol=1e-6
    )
    assert [path.name for path in saved.parent.iterdir()] == ["gate"]


def test_an_empty_folder_and_missing_parents_are_filled(gate, tmp_path):
    (tmp_path / "empty").mkdir()
    gate.save(tmp_path / "empty")
    gate.save(str(tmp_path / "a" / "b" / "c") + "/")
    assert (tmp_path / "empty" / "config.json").is_file()
    assert (tmp_path / "a" / "b" / "c" / "config.json").is_file()


FOREIGN = {
    "a note": {"note.txt": "mine"},
    "a detector and a note": {"config.json": '{"format": "dissensus-gate"}', "note.txt": "mine"},
    "another program's configuration": {"config.json": '{"model": "another"}'},
    "a configuration that is no JSON": {"config.json": "name = 1"},
    "a list as configuration": {"config.json": "[]"},
    "weights without a configuration": {"draws.safetensors": "mine"},
}


@pytest.mark.parametrize("files", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_folder_is_refused_and_kept(gate, tmp_path, files):
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    before = contents(tmp_path)
    with pytest.raises(ArtifactError, match="mine exists and is no saved detector: choose another name"):
        gate.save(folder)
    assert contents(tmp_path) == before


def test_a_file_is_refused_and_kept(gate, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ArtifactError, match="file exists and is no saved detector"):
        gate.save(tmp_path / "file")
    assert contents(tmp_path) == {Path("file"): b"mine"}


def test_a_file_where_a_folder_should_be(gate, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match=r"cannot be written \(File exists\): choose another place$"):
        gate.save(tmp_path / "file" / "gate")
    assert contents(tmp_path) == {Path("file"): b"mine"}


def full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    "failing",
    [
        "persistence.artifact.save_tensors",
        "persistence.artifact.save_arrays",
        "persistence.artifact.json.dumps",
        "atomic.os.fsync",
        "atomic.tempfile.TemporaryDirectory",
    ],
)
@pytest.mark.parametrize("existing", [False, True])
def test_a_full_disk_loses_nothing(gate, other, tmp_path, monkeypatch, failing, existing):
    if existing:
        gate.save(tmp_path / "gate")
    before = contents(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(f"dissensus.{failing}", full)
        with pytest.raises(OutputError, match=r"cannot be written .*No space left.*free some space") as error:
            other.save(tmp_path / "gate")
    assert "\n" not in str(error.value)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("cause", [OSError(errno.EIO, "broken"), KeyboardInterrupt()])
@pytest.mark.parametrize("failing", [0, 1])
def test_a_failure_between_the_moves_brings_the_older_one_back(saved, other, monkeypatch, cause, failing):
    before = contents(saved.parent)
    rename, calls = Path.rename, []

    def fail_once(self, target):
        calls.append(target)
        if len(calls) == failing + 1:
            raise cause
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr("dissensus.atomic._swapped", lambda *_: False)
        patch.setattr(Path, "rename", fail_once)
        with pytest.raises(OutputError if isinstance(cause, OSError) else KeyboardInterrupt):
            other.save(saved)
    assert contents(saved.parent) == before


def test_what_a_process_that_died_after_the_moves_left_is_no_obstacle(saved, other, rows, monkeypatch):
    shutil.copytree(saved, saved.with_name(".gate.previous"))
    monkeypatch.setattr("dissensus.atomic._swapped", lambda *_: False)
    other.save(saved)
    np.testing.assert_allclose(
        BayesianVAE.load(saved).score_samples(rows), other.score_samples(rows), rtol=1e-6
    )
    assert [path.name for path in saved.parent.iterdir()] == ["gate"]


def test_a_detector_replaced_while_it_is_read_is_read_anew(saved, other, rows, monkeypatch):
    load = reading.load_tensors

    def replaced_first(*arguments, **options):
        monkeypatch.setattr(reading, "load_tensors", load)
        other.save(saved)
        return load(*arguments, **options)

    monkeypatch.setattr(reading, "load_tensors", replaced_first)
    np.testing.assert_allclose(
        BayesianVAE.load(saved).score_samples(rows), other.score_samples(rows), rtol=1e-6
    )


def test_an_interruption_while_writing_leaves_nothing_behind(gate, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(artifact, "save_arrays", interrupt)
    with pytest.raises(KeyboardInterrupt):
        gate.save(tmp_path / "gate")
    assert contents(tmp_path) == {}


def test_the_configuration_is_plain_json(saved):
    config = json.loads((saved / "config.json").read_text("utf-8"))
    assert config["format"] == "dissensus-gate"
    assert config["format_version"] == 2
    assert config["detector"]["settings"]["statistic"] == "typicality"
    assert set(config["files"]) == {"draws.safetensors", "calibration.safetensors", "diagnostics.json"}
