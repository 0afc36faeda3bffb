"""What commands print: on lines of their own where nobody sees them, and in the words of who called."""

import io
import shutil

import numpy as np
import pytest
from rich.console import Console

from dissensus.cli import console
from tests.cli.conftest import stripes
from tests.everyday.conftest import penguins, text_of

LONG = "of as many inputs like the training data about so many would have been flagged " * 3


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t.csv").write_text(text_of(penguins(60, seed=2)))
    return tmp_path / "t.csv"


def test_a_sentence_is_one_line_in_a_log_and_as_wide_as_a_terminal():
    for terminal, lines in ((False, 1), (True, 5)):
        out = io.StringIO()
        console.print_bullets(Console(file=out, width=60, force_terminal=terminal), [LONG])
        printed = out.getvalue().splitlines()
        assert len(printed) == lines
        assert terminal or printed == [f"• {LONG}"]


def test_reports_in_a_pipe_have_no_lines_filled_up_with_spaces(dissensus, penguin_gate):
    printed = dissensus("inspect", penguin_gate).out.splitlines()
    assert not [line for line in printed if line != line.rstrip()]
    assert [line for line in printed if line.startswith("• takes rows of ") and line.endswith("sex, date")]


def test_warnings_name_the_file_and_what_is_exact_has_no_noise(dissensus, tmp_path):
    rows = penguins(240)
    rows["body_mass_g"][7] = 10**9
    (tmp_path / "t.csv").write_text(text_of(rows))
    answer = dissensus("fit", tmp_path / "t.csv", "-o", tmp_path / "gate", "--epochs", "2", "--draws", "2")
    assert f"{tmp_path / 't.csv'} holds a value that lies" in answer.err
    assert "noise floor" not in answer.out


@pytest.mark.parametrize("command", ["score", "fit", "confirm"])
def test_usage_names_arguments_as_the_help_does(dissensus, command):
    answer = dissensus(command)
    assert answer.code == 2
    assert "DATA" in answer.err
    assert "data" not in answer.err


def test_what_a_person_found_has_to_be_said(dissensus, penguin_gate, table):
    answer = dissensus("confirm", penguin_gate, table)
    assert answer.code == 2
    assert "give --normal or --outliers" in answer.err


def test_a_calibration_after_which_nothing_could_be_flagged_is_not_saved(dissensus, picture_gate, tmp_path):
    shutil.copytree(picture_gate, tmp_path / "gate")
    before = (tmp_path / "gate" / "config.json").read_bytes()
    np.save(tmp_path / "few.npy", stripes(3, seed=5))
    answer = dissensus("calibrate", tmp_path / "gate", tmp_path / "few.npy")
    assert answer.code == 2
    assert "(3 in all, and a false-alarm rate of 0.05 takes 19)" in answer.err
    assert "nothing was saved" in answer.err
    assert (tmp_path / "gate" / "config.json").read_bytes() == before
    assert dissensus("calibrate", tmp_path / "gate", tmp_path / "few.npy", "--keep").code == 0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("t.xls", "t.xls ends with .xls, which is not a format that can be read: give "),
        ("nothing.csv", "there is no file or folder"),
        ("t.jsonl", "holds JSON lines, which can be scored and not fitted on"),
    ],
)
def test_a_file_is_named_once(dissensus, tmp_path, name, words):
    if not name.startswith("nothing"):
        (tmp_path / name).write_text("{}")
    said = dissensus("fit", tmp_path / name, "-o", tmp_path / "gate").err
    assert words in said
    assert said.count(name) == 1


@pytest.mark.parametrize(
    ("gate", "words"),
    [("t.csv", "it is a file; name the folder"), ("none", "it does not exist; name the folder")],
)
def test_what_is_no_gate_is_told_what_it_is(dissensus, table, gate, words):
    said = dissensus("score", table.with_name(gate), table).err
    assert f"{gate} holds no saved detector: {words}" in said


def test_an_array_for_a_gate_of_named_columns(dissensus, penguin_gate, tmp_path):
    np.save(tmp_path / "rows.npy", np.zeros((5, 3)))
    said = dissensus("score", penguin_gate, tmp_path / "rows.npy").err
    assert "give it a table with the columns 'species', 'island'" in said
