"""JSON lines through a real pipe, answered while it is open."""

import base64
import csv
import io
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from dissensus import BayesianVAE
from tests import warm_python

LONG = 600.0  # seconds that only a hang takes


@pytest.fixture
def piped(gate):
    """Starts `dissensus score GATE -` with pipes."""
    started = []

    def start(*options):
        process = warm_python.Popen(
            [sys.executable, "-m", "dissensus", "score", str(gate), "-", "--quiet", *map(str, options)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def line_of(pixels, name):
    return json.dumps({"id": name, "values": pixels.tolist()}) + "\n"


def test_each_line_is_answered_while_the_pipe_is_open(piped, gate, images_file, tmp_path):
    images = np.load(images_file)[:4]
    process = piped("--skip-unreadable", "--drift")
    answers = []
    for number, pixels in enumerate(images[:3]):
        process.stdin.write(line_of(pixels, f"n{number}"))
        answers.append(json.loads(process.stdout.readline()))
    process.stdin.write("nonsense\n")
    bad = json.loads(process.stdout.readline())
    file = io.BytesIO()
    Image.fromarray(images[3]).save(file, "png")
    picture = {"id": 7, "image": base64.b64encode(file.getvalue()).decode()}
    out, err = process.communicate(json.dumps(picture) + "\n", timeout=LONG)
    answers.append(json.loads(out))
    assert process.returncode == 0, err
    assert err == ""
    assert [answer["input"] for answer in answers] == ["n0", "n1", "n2", 7]
    detector = BayesianVAE.load(gate, device="cpu")
    scores = detector.decide(images).score
    np.testing.assert_allclose([answer["score"] for answer in answers], scores, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        [answer["drift"] for answer in answers], detector.drift_monitor().update(scores), atol=1e-5
    )
    assert (bad["input"], bad["score"], bad["flagged"]) == (3, None, None)
    assert "no JSON" in bad["error"]


def answered(gate, text, *options):
    from dissensus.cli import app

    return CliRunner().invoke(app, ["score", str(gate), "-", *options], input=text)


def test_a_bad_line_stops_a_strict_stream(gate, images_file):
    good = line_of(np.load(images_file)[0], "good")
    answer = answered(gate, good + "[]\n")
    assert answer.exit_code == 2
    assert "row 1: the line is no JSON object" in answer.stderr
    assert answered(gate, good + "[]\n", "--skip-unreadable", "--json").exit_code == 0


def test_an_empty_stream_is_no_error(gate):
    answer = answered(gate, "", "--quiet")
    assert (answer.exit_code, answer.stdout, answer.stderr) == (0, "", "")


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another thing there")
def test_ctrl_c_ends_a_stream_and_keeps_its_rows(piped, images_file, tmp_path):
    target = tmp_path / "rows.csv"
    process = piped("-o", target)
    images = np.load(images_file)[:5]
    for number, pixels in enumerate(images):
        process.stdin.write(line_of(pixels, f"n{number}"))
    partial = tmp_path / ".rows.csv.partial"
    end = time.monotonic() + LONG
    while process.poll() is None and (not partial.exists() or partial.read_bytes().count(b"\n") < 6):
        assert time.monotonic() < end, "the rows were never written"
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=LONG)
    assert process.returncode == 130
    assert "rows so far" in process.stderr.read()
    with target.open() as stream:
        assert [row["input"] for row in csv.DictReader(stream)] == [f"n{n}" for n in range(5)]
    assert not partial.exists()
