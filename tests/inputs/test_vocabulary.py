"""Texts as sequences of symbols, by a vocabulary that is data."""

import gzip

import numpy as np
import pytest

from dissensus.errors import DataError, SettingsError
from dissensus.inputs import Vocabulary, read_lines


@pytest.mark.parametrize(
    ("by", "text", "symbols"),
    [
        ("words", "sin( x ) + 1", ["sin(", "x", ")", "+", "1"]),
        ("characters", "ab a", ["a", "b", " ", "a"]),
        ("smiles", "C[C@@H](Cl)Brc1%10", ["C", "[C@@H]", "(", "Cl", ")", "Br", "c", "1", "%10"]),
        ("selfies", "[C][=Branch1].[O]", ["[C]", "[=Branch1]", ".", "[O]"]),
        (r"\d|[a-z]+", "1ab2", ["1", "ab", "2"]),
    ],
)
def test_texts_are_divided_and_come_back(by, text, symbols):
    vocabulary = Vocabulary.of([text], by=by)
    assert vocabulary.divided(text) == symbols
    assert vocabulary.length == len(symbols) + 1
    rows = vocabulary([text])
    assert rows.dtype == np.uint8
    assert rows[0, -1] == 0
    assert vocabulary.texts(rows) == [text]
    assert Vocabulary.from_config(vocabulary.config())([text]).tolist() == rows.tolist()


@pytest.mark.parametrize(
    ("text", "reason"),
    [("x y", "'y'"), ("x x x x", "at most 2"), (3, "no text")],
)
def test_what_cannot_be_read_is_said(text, reason):
    vocabulary = Vocabulary.of(["x x"])
    with pytest.raises(DataError, match=reason):
        vocabulary([text])
    assert reason in vocabulary.refusal(text)


def test_what_no_symbol_takes_is_said():
    assert "no symbol" in Vocabulary.of(["[C]"], by="selfies", length=9).refusal("[C]C")


def test_refuses_what_is_no_vocabulary():
    for refused in (
        lambda: Vocabulary([], 3),
        lambda: Vocabulary(["a", "a"], 3),
        lambda: Vocabulary("ab", 3),
        lambda: Vocabulary(["a"], 1),
        lambda: Vocabulary(["a"], 3, "("),
        lambda: Vocabulary([str(number) for number in range(255)], 3),
    ):
        with pytest.raises(SettingsError):
            refused()
    with pytest.raises(DataError, match="no symbols"):
        Vocabulary.of(["", " "])


def test_lines_of_a_file(tmp_path):
    (tmp_path / "a.txt").write_text("x + 1\n\n  2 \n")
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"x + 1\n2\n"))
    for name in ("a.txt", "a.txt.gz"):
        assert read_lines(tmp_path / name) == ["x + 1", "2"]
    for name, content in (("b.txt", b"\xff"), ("c.gz", b"no"), ("d.txt", b"\n")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match="lines"):
            read_lines(tmp_path / name)
