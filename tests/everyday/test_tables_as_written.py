"""Tables as people write them: decimal commas, bars, units, currencies, dates of their own country."""

import numpy as np
import pytest

from dissensus import Detector
from dissensus.errors import DataError
from dissensus.inputs import Table, TableEncoder, TableFile
from tests.everyday.conftest import penguins, text_of


def european(table):
    """The table as Excel saves it in most of Europe: semicolons, decimal commas, a mark in front."""
    rows = {
        name: [str(v).replace(".", ",") if isinstance(v, float) else v for v in values]
        for name, values in table.items()
    }
    return text_of(rows, ";").replace("\n", "\r\n").encode("utf-8-sig")


def test_decimal_commas_are_read_where_semicolons_part_columns(penguin_gate, tmp_path):
    table = penguins(40, seed=2)
    (tmp_path / "de.csv").write_bytes(european(table))
    (tmp_path / "en.csv").write_text(text_of(table))
    gate = Detector.load(penguin_gate, device="cpu")
    np.testing.assert_array_equal(
        gate.score_samples(tmp_path / "de.csv"), gate.score_samples(tmp_path / "en.csv")
    )


def columns_of(text, path):
    path.write_text(text)
    [chunk] = TableFile(path).chunks(1000)
    return {name: list(values) for name, values in chunk.inputs.columns.items()}


def test_a_thousand_is_no_fraction(tmp_path):
    german = columns_of("a;b;when\n1.234,5;1.234;01.02.2023\n-0,125;7;02.02.2023\n", tmp_path / "t.csv")
    assert german == {"a": ["1234.5", "-0.125"], "b": ["1234", "7"], "when": ["01.02.2023", "02.02.2023"]}
    # Thousands alone might be either, and points of their own say that commas are none.
    for text in ("a;b\n1,499;x\n2,500;y\n", "a;b\n1,5;2.25\n"):
        assert columns_of(text, tmp_path / "t.csv")["a"] == [line.split(";")[0] for line in text.split()[1:]]


def test_a_name_of_a_row_is_no_number(tmp_path):
    (tmp_path / "t.csv").write_text("id;a\n1.234;0,5\n1.235;1,25\n")
    [chunk] = TableFile(tmp_path / "t.csv", id_column="id").chunks(1000)
    assert list(chunk.inputs.columns["a"]) == ["0.5", "1.25"]
    assert list(chunk.inputs.names) == ["1.234", "1.235"]


def test_bars_may_part_columns(tmp_path):
    (tmp_path / "t.csv").write_text(text_of(penguins(30), "|"))
    assert TableFile(tmp_path / "t.csv").columns == tuple(penguins(1))


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (lambda n: f"{3000 + n:,}", "numbers as people write them, such as '3,0"),
        (lambda n: f"{n}.5%", "numbers as people write them, such as '"),
        (lambda n: f"€ {n}.50", "write them as in 3750.5"),
        (lambda n: f"{n},5", "numbers as people write them"),
        (lambda n: f"{n % 28 + 1:02d}.{n % 12 + 1:02d}.2023", "dates such as '"),
        (lambda n: f"{n % 12 + 1}/{n % 28 + 1}/2023", "write them as year-month-day, as in 2023-09-28"),
        (lambda n: f"Sep {n % 28 + 1} {2000 + n}", "dates such as 'Sep "),
    ],
    ids=["thousands", "per cent", "currency", "comma", "German date", "American date", "named month"],
)
def test_what_only_people_read_is_neither_a_name_nor_a_number(shown, words):
    for repeats in (1, 3):  # of which many come often enough to be categories
        table = {"x": [shown(n) for n in range(60)] * repeats, "y": list(range(0, 120, 2)) * repeats}
        with pytest.raises(DataError) as error:
            TableEncoder.fit(Table(table, range(60 * repeats)))
        assert words in str(error.value)


def test_a_few_answers_are_names_whatever_they_look_like():
    answers = {"x": ["1,5", "2,5", "3,5"] * 20, "when": ["1/2/2023", "2/2/2023"] * 30}
    kinds = [column.kind for column in TableEncoder.fit(Table(answers, range(60))).columns]
    assert kinds == ["categories", "categories"]


def test_what_is_wrong_with_columns_is_said_once_for_all_of_them(dissensus, tmp_path):
    table = penguins(60)
    table = {name: ["mm", *values] for name, values in table.items()}
    table["the remark"] = [f"No {n}" for n in range(61)]
    (tmp_path / "t.csv").write_text(text_of(table))
    said = dissensus("fit", tmp_path / "t.csv", "-o", tmp_path / "gate").err
    assert said.startswith(f"{tmp_path / 't.csv'} has columns that cannot be learnt from: ")
    assert said.count("holds numbers but for row 0: 'mm'") == 3
    assert said.count(": repair these cells, or leave them out (") == 1
    assert "--drop bill_length_mm --drop flipper_length_mm --drop body_mass_g" in said
    assert "--id 'the remark'" in said  # as a shell takes it


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# of the laboratory\na,b\n1,2\n", "remove what stands above the line of names"),
        ("a,b\n1,2\n3\n", "cannot be read at row 1: it has 1 field, and the first line names 2 columns"),
        ("a,b,\n1,2,\n", "leaves column 3 without a name: name it, or remove it"),
    ],
    ids=["a line above", "too short", "a comma too many"],
)
def test_tables_of_another_shape(tmp_path, text, words):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(DataError, match=words):
        TableFile(tmp_path / "t.csv").load()


def test_reading_in_parts_is_reading_as_a_whole(tmp_path):
    table = {"a": [f"{n},5" for n in range(50)], "b": ["x"] * 50}
    (tmp_path / "t.csv").write_bytes(european(table))
    file = TableFile(tmp_path / "t.csv")
    parts = [v for chunk in file.chunks(7, start=3) for v in chunk.inputs.columns["a"]]
    assert parts == [f"{n}.5" for n in range(3, 50)] == list(file.load().columns["a"][3:])
