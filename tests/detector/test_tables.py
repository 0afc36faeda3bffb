"""Tables of named columns, from fit to reload."""

import csv
import io

import numpy as np
import pytest

from dissensus import BayesianVAE
from dissensus.errors import ArtifactError, DataError
from dissensus.inputs import TableFile


def write_table(path, rows=120, seed=0):
    rng = np.random.default_rng(seed)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["name", "age", "pet", "height"])
        for number in range(rows):
            age = "" if number % 9 == 0 else int(rng.integers(20, 60))
            writer.writerow([f"r{number}", age, rng.choice(["cat", "dog"]), 170 + 10 * rng.normal()])
    return path


@pytest.fixture(scope="session")
def table_file(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("tables") / "t.csv")


@pytest.fixture(scope="session")
def table_gate(quick, table_file):
    return quick(epochs=20).fit(TableFile(table_file, id_column="name"))


def test_a_table_is_its_encoded_rows(quick, table_gate, table_file):
    read = table_gate.preprocessor_.read(TableFile(table_file).load())
    assert not read.problems
    rows = read.array
    gate = quick(epochs=20).fit(rows)
    assert gate.preprocessor_.table is None
    np.testing.assert_array_equal(gate.score_samples(rows), table_gate.score_samples(table_file))
    np.testing.assert_array_equal(gate.score_samples(rows), table_gate.score_samples(read))
    assert rows.shape[1] == 6
    assert table_gate.n_features_in_ == 3
    assert table_gate.feature_names_in_.tolist() == ["age", "pet", "height"]


def test_it_is_scored_alike_in_parts_and_after_reload(table_gate, table_file, tmp_path, monkeypatch):
    whole = table_gate.decide(table_file)
    monkeypatch.setattr("dissensus.detector.inputs.CHUNK_ROWS", 7)
    np.testing.assert_allclose(table_gate.decide(str(table_file)).score, whole.score, rtol=1e-6, atol=1e-5)
    table_gate.save(tmp_path / "gate")
    again = BayesianVAE.load(tmp_path / "gate", device="cpu")
    assert again.preprocessor_.table == table_gate.preprocessor_.table
    assert again.feature_names_in_.tolist() == ["age", "pet", "height"]
    np.testing.assert_allclose(again.decide(table_file).score, whole.score, rtol=1e-6, atol=1e-5)
    rows = list(again.decide_stream(table_file))
    assert [row.input for row in rows] == [f"r{n}" for n in range(120)]
    np.testing.assert_allclose([row.score for row in rows], whole.score, rtol=1e-6, atol=1e-5)


def test_an_unseen_category_is_seen(table_gate):
    lines = b'{"age": 40, "pet": "cat", "height": 170}\n{"age": 40, "pet": "axolotl", "height": 170}\n'
    usual, unseen = table_gate.decide_stream(io.BytesIO(lines))
    assert unseen.score != usual.score


def test_a_row_that_cannot_be_scored_is_named(table_gate, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("name,pet,age,height\na,cat,30,170\nb,dog,31,tall\n")
    with pytest.raises(DataError, match="X cannot be scored at b: column 'height' holds 'tall'"):
        table_gate.decide(path)
    with pytest.raises(DataError, match="X cannot be scored at b: column 'height'"):
        list(table_gate.decide_stream(path))
    good, bad = table_gate.decide_stream(path, on_error="skip")
    assert (good.input, good.error) == ("a", None)
    assert (bad.input, bad.score, bad.p_value, bad.flagged) == ("b", None, None, None)
    assert "tall" in bad.error


def test_tables_and_arrays_are_not_mixed_up(table_gate, row_gate, picture_gate, table_file, tmp_path):
    for gate, words in ((row_gate, "fitted on an array without names"), (picture_gate, "fitted on pictures")):
        with pytest.raises(DataError, match=words):
            gate.decide(table_file)
        with pytest.raises(DataError, match=words):
            list(gate.decide_stream(table_file))
    (tmp_path / "other.csv").write_text("name,age\na,3\n")
    with pytest.raises(DataError, match="lacks the columns 'pet', 'height'"):
        table_gate.decide(tmp_path / "other.csv")


def test_fitting_forgets_an_earlier_table(quick, table_file, rows):
    gate = quick(epochs=2, draws=2).fit(TableFile(table_file, drop=["name"]))
    assert gate.feature_names_in_.tolist() == ["age", "pet", "height"]
    assert gate.fit(rows).preprocessor_.table is None
    assert not hasattr(gate, "feature_names_in_")


def test_columns_of_other_networks_are_refused(table_gate, tmp_path):
    import copy
    import dataclasses

    altered = copy.copy(table_gate)
    own = table_gate.preprocessor_
    fewer = dataclasses.replace(own.table, columns=own.table.columns[:-1])
    changed = dataclasses.replace(own, table=fewer)
    altered.learnt_ = dataclasses.replace(table_gate.learnt_, preprocessor=changed)
    altered.save(tmp_path / "gate")
    with pytest.raises(ArtifactError, match="columns are not those of its networks"):
        BayesianVAE.load(tmp_path / "gate", device="cpu")


def test_explanations_name_the_columns(table_gate, table_file):
    places = table_gate.explain(table_file)[0].to_dict()["disagreement"]
    assert {place["column"] for place in places} == set(table_gate.preprocessor_.columns)


def test_parquet_scores_as_csv(table_gate, table_file, tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = TableFile(table_file).load().columns
    typed = {
        "name": columns["name"],
        "pet": columns["pet"],
        "age": [float(value) if value else None for value in columns["age"]],
        "height": [float(value) for value in columns["height"]],
    }
    parquet.write_table(pyarrow.table(typed), tmp_path / "t.parquet")
    found = list(table_gate.decide_stream(tmp_path / "t.parquet"))
    expected = list(table_gate.decide_stream(table_file))
    assert found == expected
