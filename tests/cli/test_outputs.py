"""What commands write never replaces what they read, and their last words are true."""

import os
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from dissensus import BayesianVAE
from tests import warm_python


@pytest.mark.parametrize("command", ["score", "report"])
def test_the_data_is_never_written_over(dissensus, gate, folder, command):
    picture = folder / "0.png"
    before = picture.read_bytes()
    answer = dissensus(command, gate, picture, "-o", picture)
    assert (answer.code, answer.out) == (2, "")
    assert "is the data" in answer.err
    assert picture.read_bytes() == before


def test_a_page_and_its_record_are_two_files(dissensus, gate, folder, tmp_path):
    answer = dissensus("report", gate, folder, "-o", tmp_path / "found.json")
    assert answer.code == 2
    assert "found.html" in answer.err
    assert not (tmp_path / "found.json").exists()


def test_a_report_resizes_as_its_error_says(dissensus, gate, tmp_path):
    picture, page = tmp_path / "large.png", tmp_path / "page.html"
    Image.fromarray(np.zeros((16, 16), np.uint8)).save(picture)
    refused = dissensus("report", gate, picture, "-o", page)
    assert refused.code == 2
    assert "--resize" in refused.err
    answer = dissensus("report", gate, picture, "-o", page, "--resize", "8x8", "--json")
    assert answer.code == 0, answer.err
    assert (answer.json["inputs"], answer.json["source"]) == (1, str(picture))


def test_a_gate_that_can_flag_nothing(dissensus, fit, images_file, tmp_path):
    answer = fit(images_file, tmp_path / "gate", "--false-alarm-rate", "0.001")
    assert "flags nothing, at a false-alarm rate of 0.001" in answer.out


def test_interrupted_rows_that_are_kept_nowhere(dissensus, gate, images_file, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(BayesianVAE, "decide", interrupt)
    answer = dissensus("score", gate, images_file, "--fdr", "0.5")
    assert (answer.code, answer.err) == (130, "interrupted\n")


def test_a_reader_that_leaves_before_text_comes(gate):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "dissensus", "inspect", gate]
    answer = warm_python.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (answer.returncode, answer.stderr) == (141, "")
