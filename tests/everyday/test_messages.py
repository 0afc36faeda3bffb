"""The mistakes that people make first: one sentence says what happened, where, and what to do."""

import ast
import re
from pathlib import Path

import pytest

import dissensus as package
from tests.everyday.conftest import penguins, text_of


def told(answer):
    """The one sentence that a command left with."""
    assert answer.code == 2, answer.err
    assert answer.out == ""
    [sentence] = answer.err.splitlines()
    assert not any(riddle in sentence for riddle in ("is none", "anew", "Traceback", "[Errno"))
    return sentence


def renamed(old, new):
    return {new if name == old else name: values for name, values in penguins(30).items()}


def with_cells(name, **cells):
    table = penguins(240)
    for row, value in cells.items():
        table[name][int(row.removeprefix("r"))] = value
    return table


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty: its first line must name the columns"),
        (
            b"1,2,3\n4,5,6\n",
            "holds numbers in its first line, which must name the columns: put a line of names",
        ),
        (b"a,,c\n1,2,3\n", "leaves column 2 without a name: name it, or remove it"),
        (b"a,b,a\n1,2,3\n", "has two columns named 'a': rename one"),
        ("größe,b\n1,2\n".encode("latin-1"), "cannot be read as text in UTF-8"),
        (b"a,b\n1\n2,3\n", "cannot be read at row 0: it has 1 field, and the first line names 2 columns"),
        (b"a,b\n", "holds no rows"),
        (b"a,b\n1,2\n3,4\n", "too few rows (n_samples=2): give at least 5"),
    ],
    ids=["empty", "no header", "a name lacks", "twice", "not UTF-8", "ragged", "no rows", "few"],
)
def test_tables_that_cannot_be_learnt_from(dissensus, tmp_path, content, words):
    (tmp_path / "t.csv").write_bytes(content)
    sentence = told(dissensus("fit", tmp_path / "t.csv", "-o", tmp_path / "gate"))
    assert str(tmp_path / "t.csv") in sentence
    assert words in sentence


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (with_cells("bill_length_mm", r7="1,499"), "'bill_length_mm' holds numbers but for row 7: '1,499'"),
        (
            {**penguins(240), "remark": ["NA"] * 240},
            "'remark' is empty in every row: leave it out (--drop remark)",
        ),
        ({**penguins(240), "remark": [f"No {n}" for n in range(240)]}, "let it name the rows (--id remark)"),
    ],
    ids=["a number as people write it", "empty", "texts"],
)
def test_columns_that_cannot_be_learnt_from(dissensus, tmp_path, table, words):
    (tmp_path / "t.csv").write_text(text_of(table))
    assert words in told(dissensus("fit", tmp_path / "t.csv", "-o", tmp_path / "gate"))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (renamed("bill_length_mm", "bill_lenght_mm"), "it has 'bill_lenght_mm': is that meant?"),
        (renamed("sex", "observer"), "lacks the column 'sex' that the detector was fitted with"),
    ],
    ids=["misspelt", "absent"],
)
def test_tables_that_cannot_be_scored(dissensus, penguin_gate, tmp_path, table, words):
    (tmp_path / "t.csv").write_text(text_of(table))
    assert words in told(dissensus("score", penguin_gate, tmp_path / "t.csv"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "penguin.csv", "-o", "{}/gate"], "there is no file or folder 'penguin.csv'; check its name"),
        (["fit", "minst", "-o", "{}/gate"], "there is no file, folder or dataset 'minst'"),
        (["fit", "{}/t.csv", "-o", "{}/gate", "--id", "ID"], "has no column 'ID': it has species, island"),
        (["fit", "{}", "-o", "{}/gate"], "holds no images"),
        (
            ["fit", "{}/t.csv", "-o", "{}/gate", "--posterior", "mcmc"],
            "posterior='mcmc' is not known: choose",
        ),
        (["fit", "{}/t.csv", "-o", "{}/gate", "--false-alarm-rate", "5"], "must lie between 0 and 1, got 5"),
        (["score", "{}", "{}/t.csv"], "holds no saved detector: there is no config.json in it"),
        (["score", "{}/none", "{}/t.csv"], "holds no saved detector"),
        (["inspect", "{}/none"], "holds no saved detector"),
    ],
    ids=lambda value: "" if isinstance(value, str) else " ".join(value[:2]).replace("{}/", ""),
)
def test_calls_that_are_wrong(dissensus, tmp_path, arguments, words):
    (tmp_path / "t.csv").write_text(text_of(penguins(30)))
    sentence = told(dissensus(*(argument.format(tmp_path) for argument in arguments)))
    assert words in sentence


def test_no_error_speaks_in_riddles():
    """Words that leave out what they are about; an error says what happened, where, and what to do."""
    riddle = re.compile(r"\banew\b|\b(is|are) none\b|\bas it was\b|\bTaken (is|are)\b")
    found = [
        (path.name, node.lineno, part.value)
        for path in Path(package.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Raise)
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and riddle.search(part.value)
    ]
    assert found == []
