"""`score -o`, killed in a real process: what existed is intact, and the same command goes on."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from tests import warm_python

STOPPING = """
import sys
import dissensus.detector.inputs as inputs
import dissensus.detector.streaming as streaming
inputs.CHUNK_ROWS, decided, chunks = 4, streaming._decided, []
def stopping(*arguments):
    if len(chunks) == 5:
        print("five chunks of this run are done", flush=True)
        sys.stdin.read()
    chunks.append(arguments)
    return decided(*arguments)
streaming._decided = stopping
from dissensus.cli import main
main()
"""


def started(*arguments):
    """A command that stops after five chunks of four rows, says so, and waits to be killed."""
    return warm_python.Popen(
        [sys.executable, "-c", STOPPING, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def lines_in(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_killed_twice_it_ends_with_the_same_bytes(dissensus, gate, tmp_path, monkeypatch):
    data = tmp_path / "many.npy"
    np.save(data, np.random.default_rng(0).integers(0, 256, (120, 8, 8), np.uint8))
    target, partial = tmp_path / "rows.csv", tmp_path / ".rows.csv.partial"
    target.write_text("precious")
    seen = 0
    for kill in (signal.SIGKILL, signal.SIGINT):
        process = started("score", gate, data, "-o", target, "--quiet")
        process.stdout.readline()  # it waits in the middle of its work
        process.send_signal(kill)
        _, err = process.communicate(timeout=600)
        assert process.returncode == (130 if kill == signal.SIGINT else -kill), err
        assert target.read_text() == "precious"
        assert lines_in(partial) >= seen + 10  # never begun anew
        seen = lines_in(partial)
    assert "the same command" in err
    monkeypatch.setattr("dissensus.detector.inputs.CHUNK_ROWS", 4)
    assert dissensus("score", gate, data, "-o", target).code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["many.npy", "rows.csv"]
    assert dissensus("score", gate, data, "-o", tmp_path / "straight.csv").code == 0
    assert target.read_bytes() == (tmp_path / "straight.csv").read_bytes()


@pytest.fixture
def interrupted(dissensus, gate, images_file, tmp_path, monkeypatch):
    """An interrupted `score -o rows.csv`, 8 rows of 60 done."""
    from dissensus.detector import streaming

    monkeypatch.setattr("dissensus.detector.inputs.CHUNK_ROWS", 4)
    decided, calls = streaming._decided, []

    def twice(*arguments):
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(arguments)
        return decided(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(streaming, "_decided", twice)
        answer = dissensus("score", gate, images_file, "-o", tmp_path / "rows.csv")
    assert answer.code == 130
    assert "the same command again" in answer.err
    assert lines_in(tmp_path / ".rows.csv.partial") == 9
    return tmp_path / "rows.csv"


@pytest.fixture
def scored_rows(monkeypatch):
    """Counts the inputs that are scored."""
    from dissensus.detector import streaming

    decided, count = streaming._decided, []

    def counted(gate, names, *others):
        count.append(len(names))
        return decided(gate, names, *others)

    monkeypatch.setattr(streaming, "_decided", counted)
    return lambda: sum(count)


def test_the_same_command_scores_only_the_rest(dissensus, gate, images_file, interrupted, scored_rows):
    assert dissensus("score", gate, images_file, "-o", interrupted).code == 0
    assert scored_rows() == 52
    whole = dissensus("score", gate, images_file)
    assert interrupted.read_text() == whole.out


def test_other_options_of_the_output_change_nothing(dissensus, gate, images_file, interrupted, scored_rows):
    answer = dissensus("score", gate, images_file, "-o", interrupted, "--drift", "--fdr", 0.5, "--json")
    assert answer.code == 0, answer.err
    assert scored_rows() == 52
    assert answer.json["inputs"] == 60


def test_changed_inputs_begin_anew(dissensus, gate, images_file, interrupted, scored_rows):
    os.utime(images_file, ns=(1, 1))
    assert dissensus("score", gate, images_file, "-o", interrupted).code == 0
    assert scored_rows() == 60


def test_another_gate_begins_anew(dissensus, fit, images_file, interrupted, scored_rows, tmp_path):
    assert fit(images_file, tmp_path / "other", "--seed", 1).code == 0
    assert dissensus("score", tmp_path / "other", images_file, "-o", interrupted).code == 0
    assert scored_rows() == 60


def test_false_discovery_rates_are_over_all_rows(dissensus, gate, images_file, tmp_path):
    from dissensus import BayesianVAE

    images = np.load(images_file)
    for fdr in (0.4, 0.9):
        expected = BayesianVAE.load(gate, device="cpu").decide(images, fdr=fdr).flagged
        answer = dissensus("score", gate, images_file, "--fdr", fdr)
        assert answer.code == 0, answer.err
        flags = [line.rsplit(",", 1)[1] == "true" for line in answer.out.splitlines()[1:]]
        assert flags == expected.tolist()
        assert f"false discovery rate {fdr}" in answer.err
    for impossible in (0.001, 2):
        assert dissensus("score", gate, images_file, "--fdr", impossible).code == 2
