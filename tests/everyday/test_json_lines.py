"""JSON lines as programs send them: a misspelt key, a key too few, a line that is broken."""

import json

import pytest
from typer.testing import CliRunner

from tests.everyday.conftest import penguins, records_of


@pytest.fixture
def piped(penguin_gate):
    """Scores lines that all come at once through a pipe."""
    from dissensus.cli import app

    def call(lines, *options):
        text = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)
        result = CliRunner().invoke(app, ["score", str(penguin_gate), "-", *options], input=text)
        return result, [json.loads(line) for line in result.stdout.splitlines()]

    return call


@pytest.fixture
def penguin():
    return records_of(penguins(1, seed=1))[0] | {"sex": "male", "body_mass_g": 3700}


def test_a_misspelt_key_is_no_missing_value(piped, penguin):
    absurd = {**penguin, "bill_lenght_mm": 9e9}
    del absurd["bill_length_mm"]
    answer, rows = piped([penguin, absurd])
    assert answer.exit_code == 2
    assert "row 1" in answer.stderr
    assert "the object lacks the column 'bill_length_mm'" in answer.stderr
    assert "'bill_lenght_mm', which is no column" in answer.stderr
    assert [row["input"] for row in rows] == [0]


def test_a_bad_line_has_a_reason_where_asked(piped, penguin):
    short = {name: value for name, value in penguin.items() if name not in ("sex", "date")}
    answer, rows = piped([penguin, short, "{broken\n", penguin], "--skip-unreadable")
    assert answer.exit_code == 0, answer.stderr
    assert [row["error"] is None for row in rows] == [True, False, False, True]
    assert "lacks the columns 'sex', 'date'" in rows[1]["error"]
    assert rows[0]["score"] == rows[3]["score"]


def test_further_keys_are_ignored_as_further_columns_of_a_file_are(piped, penguin):
    answer, rows = piped([{**penguin, "id": "p1", "observer": "KBG"}])
    assert (answer.exit_code, rows[0]["input"]) == (0, "p1"), answer.stderr


def test_absent_keys_count_as_missing_where_asked(piped, penguin):
    short = {name: value for name, value in penguin.items() if name != "sex"}
    misspelt = {**short, "sexx": "male"}
    answer, rows = piped(
        [short, {**penguin, "sex": None}, misspelt], "--absent-as-missing", "--skip-unreadable"
    )
    assert answer.exit_code == 0, answer.stderr
    assert rows[0]["score"] == rows[1]["score"]
    assert "'sexx'" in rows[2]["error"]
    answer, _ = piped([{"id": 1}], "--absent-as-missing")
    assert "none of the columns" in answer.stderr


@pytest.mark.parametrize("where", ["first", "last"])
def test_good_lines_before_a_bad_one_are_answered(piped, penguin, where):
    lines = [penguin] * 3
    lines.insert(0 if where == "first" else 3, "{broken\n")
    answer, rows = piped(lines)
    assert answer.exit_code == 2
    assert len(rows) == (0 if where == "first" else 3)


@pytest.fixture
def of_file(penguin_gate, dissensus, tmp_path):
    """Scores lines that lie in a file."""

    def call(lines, *options):
        text = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)
        (tmp_path / "lines.jsonl").write_text(text)
        return dissensus("score", penguin_gate, tmp_path / "lines.jsonl", *options)

    return call


def test_good_lines_of_a_file_come_before_the_bad_one(of_file, piped, penguin):
    heavy = {**penguin, "body_mass_g": 5600}
    lines = [penguin, heavy, "{broken\n", penguin]
    answer = of_file(lines)
    assert answer.code == 2
    assert "lines.jsonl cannot be scored at row 2" in answer.err
    rows = answer.out.splitlines()
    assert [row.split(",")[0] for row in rows] == ["input", "0", "1"]
    _, expected = piped([penguin, heavy])
    assert [float(row.split(",")[1]) for row in rows[1:]] == [row["score"] for row in expected]


@pytest.mark.parametrize("read_at_once", [2, 10_000])
@pytest.mark.parametrize("fdr", [(), ("--fdr", "0.5")])
def test_good_lines_of_a_file_are_written(of_file, penguin, tmp_path, monkeypatch, read_at_once, fdr):
    monkeypatch.setattr("dissensus.detector.inputs.CHUNK_ROWS", read_at_once)
    output = tmp_path / "rows.csv"
    answer = of_file([penguin] * 3 + ["{broken\n", penguin], "-o", output, *fdr)
    assert answer.code == 2
    assert "row 3" in answer.err
    assert f"{output} holds the 3 rows before it" in answer.err
    assert len(output.read_text().splitlines()) == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lines.jsonl", "rows.csv"]
    mended = of_file([penguin] * 5, "-o", output, *fdr)
    assert mended.code == 0, mended.err
    assert len(output.read_text().splitlines()) == 6


def test_a_file_that_begins_with_a_bad_line_replaces_nothing(of_file, penguin, tmp_path):
    (tmp_path / "rows.csv").write_text("precious")
    answer = of_file(["{broken\n", penguin], "-o", tmp_path / "rows.csv")
    assert answer.code == 2
    assert "holds" not in answer.err
    assert (tmp_path / "rows.csv").read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lines.jsonl", "rows.csv"]


def test_a_shard_with_a_bad_line_is_no_part(of_file, penguin, tmp_path):
    pytest.importorskip("pyarrow")
    answer = of_file([penguin, penguin, "{broken\n"], "--shard", "0/1", "-o", tmp_path / "part.parquet")
    assert answer.code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["lines.jsonl"]


def test_rows_before_a_bad_line_are_written_to_a_file(piped, penguin, tmp_path):
    answer, _ = piped([penguin, penguin, "{broken\n"], "-o", str(tmp_path / "rows.csv"))
    assert answer.exit_code == 2
    assert "rows.csv holds the 2 rows before it" in answer.stderr
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]
