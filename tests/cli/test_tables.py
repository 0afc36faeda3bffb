"""Tables on the command line, from `fit` to rows named by id."""

import csv
import io
import json

import numpy as np
import pytest

COLUMNS = "customer,age,plan,spent"


def rows_of_customers(count, seed=0):
    rng = np.random.default_rng(seed)
    for number in range(count):
        age = "" if number % 11 == 0 else rng.integers(20, 70)
        yield f"c{number},{age},{rng.choice(['basic', 'full'])},{rng.normal(100, 20):.3f}"


@pytest.fixture(scope="module")
def customers(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "customers.csv"
    path.write_text("\n".join([COLUMNS, *rows_of_customers(80)]) + "\n")
    return path


@pytest.fixture(scope="module")
def table_gate(fit, customers, tmp_path_factory):
    folder = tmp_path_factory.mktemp("table gates") / "gate"
    answer = fit(customers, folder, "--id", "customer", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["inputs"] == 80
    return folder


def table_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_rows_are_named_by_their_ids(dissensus, table_gate, customers):
    answer = dissensus("score", table_gate, customers)
    assert answer.code == 0, answer.err
    assert [row["input"] for row in table_of(answer.out)] == [f"c{n}" for n in range(80)]


def test_another_column_may_name_the_rows(dissensus, table_gate, tmp_path):
    (tmp_path / "new.csv").write_text("order,age,plan,spent\no1,30,basic,99\n")
    assert table_of(dissensus("score", table_gate, tmp_path / "new.csv").out)[0]["input"] == "0"
    named = dissensus("score", table_gate, tmp_path / "new.csv", "--id", "order")
    assert table_of(named.out)[0]["input"] == "o1"


def test_bad_rows_have_reasons_or_stop_the_work(dissensus, table_gate, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text(f'{COLUMNS}\na,30,basic,99\nb,,full,"1,499"\nc,x,full,3\nd,1\ne,33,platinum,\n')
    refused = dissensus("score", table_gate, path)
    assert refused.code == 2
    assert refused.out == ""
    said = " ".join(refused.err.split())
    assert f"{path} cannot be scored at b: column 'spent' holds '1,499', which is no finite number" in said
    assert "; at c: column 'age' holds 'x'" in said
    answer = dissensus("score", table_gate, path, "--skip-unreadable")
    assert answer.code == 0
    rows = {row["input"]: row for row in table_of(answer.out)}
    assert [bool(row["error"]) for row in rows.values()] == [False, True, True, True, False]
    assert list(rows) == ["a", "b", "c", "3", "e"]
    assert "3 unreadable" in answer.err
    assert rows["e"]["notes"] == "plan: platinum, never seen; spent: missing, never so in training"
    assert rows["a"]["notes"] == ""


def test_columns_can_be_dropped(fit, dissensus, customers, tmp_path):
    refused = fit(customers, tmp_path / "gate")
    assert refused.code == 2
    assert "'customer' holds 80 different texts" in refused.err
    assert fit(customers, tmp_path / "gate", "--drop", "customer", "--drop", "plan").code == 0
    facts = dissensus("inspect", tmp_path / "gate", "--json").json
    assert facts["columns"] == ["age", "spent"]
    assert dissensus("score", tmp_path / "gate", customers).code == 0


def test_options_of_tables_are_for_tables(fit, images_file, tmp_path):
    for option in ("--id", "--drop"):
        answer = fit(images_file, tmp_path / "gate", option, "x")
        assert answer.code == 2
        assert "for tables" in answer.err


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_outputs_hold_the_same(dissensus, table_gate, customers, tmp_path, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    target = tmp_path / f"rows.{suffix}"
    assert dissensus("score", table_gate, customers, "-o", target).code == 0
    if suffix == "csv":
        scores = [float(row["score"]) for row in table_of(target.read_text())]
    elif suffix == "jsonl":
        scores = [json.loads(line)["score"] for line in target.read_text().splitlines()]
    else:
        import pyarrow.parquet

        scores = pyarrow.parquet.read_table(target).column("score").to_pylist()
    printed = table_of(dissensus("score", table_gate, customers).out)
    assert scores == [float(row["score"]) for row in printed]
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def test_parquet_needs_an_extra(dissensus, table_gate, customers, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    answer = dissensus("score", table_gate, customers, "-o", tmp_path / "rows.parquet")
    assert answer.code == 2
    assert "dissensus[table]" in answer.err
    assert list(tmp_path.iterdir()) == []


def test_json_lines_from_a_file(dissensus, table_gate, customers, tmp_path):
    path = tmp_path / "new.jsonl"
    table = table_of(customers.read_text())
    path.write_text("".join(json.dumps(row) + "\n" for row in table))
    assert dissensus("score", table_gate, path).out == dissensus("score", table_gate, customers).out


def test_a_row_can_be_explained(dissensus, table_gate, customers, tmp_path):
    answer = dissensus("explain", table_gate, customers, "--row", 3, "--json", "-o", tmp_path / "why")
    assert answer.code == 0, answer.err
    assert answer.json["input"] == "c3"
    assert {place["column"] for place in answer.json["disagreement"]} >= {"age", "spent", "plan=basic"}
    assert json.loads((tmp_path / "why" / "explanation.json").read_text()) == answer.json
    assert [path.name for path in (tmp_path / "why").iterdir()] == ["explanation.json"]
    assert "no row 80" in dissensus("explain", table_gate, customers, "--row", 80).err


def test_a_table_can_be_reported_on_and_calibrated_with(dissensus, table_gate, customers, tmp_path):
    answer = dissensus("report", table_gate, customers, "-o", tmp_path / "r.html", "--shown", 1, "--json")
    assert answer.code == 0, answer.err
    assert answer.json["inputs"] == 80
    answer = dissensus("calibrate", table_gate, customers, "-o", tmp_path / "gate", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["calibration_inputs"] == 80
