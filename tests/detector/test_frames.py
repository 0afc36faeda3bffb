"""Frames of pandas, polars and pyarrow are tables: the same scores as the same rows in a file, to the bit."""

from datetime import datetime, timedelta

import numpy as np
import pytest

from dissensus import BayesianVAE
from dissensus.errors import DataError

LIBRARIES = ["pandas", "polars", "pyarrow"]


def records(count=120, seed=0):
    """Rows with all that a column may hold, as a Python program has them."""
    random = np.random.default_rng(seed)
    return [
        {
            "price": round(float(random.normal(100, 20)), 3),
            "country": str(random.choice(["France", "Peru", "Chad"])),
            "age": None if number % 9 == 4 else int(random.integers(20, 70)),
            "member": bool(random.uniform() < 0.4),
            "since": datetime(2024, 1, 1) + timedelta(hours=int(random.integers(0, 9000))),
        }
        for number in range(count)
    ]


def frame(library, rows, columns=None):
    columns = list(rows[0]) if columns is None else columns
    values = {name: [row[name] for row in rows] for name in columns}
    if library == "pandas":
        return pytest.importorskip("pandas").DataFrame(values)
    if library == "polars":
        return pytest.importorskip("polars").DataFrame(values)
    return pytest.importorskip("pyarrow").table(values)


def as_csv(path, rows):
    lines = [",".join("" if value is None else str(value) for value in row.values()) for row in rows]
    path.write_text("\n".join([",".join(rows[0]), *lines]), "utf-8")
    return path


ROWS = records()
ASKED = [*records(20, seed=1), ROWS[0] | {"country": "Mars"}, ROWS[1] | {"age": None, "country": None}]
NEVER_MISSING = ROWS[2] | {"price": None, "since": None}


@pytest.fixture(scope="module")
def csv_gate(quick, tmp_path_factory):
    return quick().fit(as_csv(tmp_path_factory.mktemp("frames") / "rows.csv", ROWS))


@pytest.fixture(scope="module", params=LIBRARIES)
def library(request):
    pytest.importorskip(request.param)
    return request.param


@pytest.fixture(scope="module")
def frame_gate(quick, library):
    return quick().fit(frame(library, ROWS))


def test_a_frame_teaches_what_a_file_teaches(frame_gate, csv_gate):
    assert frame_gate.preprocessor_.table == csv_gate.preprocessor_.table
    assert frame_gate.feature_names_in_.tolist() == csv_gate.feature_names_in_.tolist() == list(ROWS[0])
    assert frame_gate.n_features_in_ == 5
    np.testing.assert_array_equal(frame_gate.calibration_scores_, csv_gate.calibration_scores_)


def test_gates_of_files_and_of_frames_give_the_same_bits(csv_gate, frame_gate, library, tmp_path):
    asked = [*ASKED, NEVER_MISSING]
    path, given = as_csv(tmp_path / "asked.csv", asked), frame(library, asked)
    expected = csv_gate.score_samples(path)
    for gate in (csv_gate, frame_gate):
        for source in (path, given):
            np.testing.assert_array_equal(gate.score_samples(source), expected)


def test_columns_are_found_by_name_in_any_order(csv_gate, library):
    other = frame(library, ASKED, ["since", "member", "age", "country", "price"])
    expected = csv_gate.score_samples(frame(library, ASKED))
    np.testing.assert_array_equal(csv_gate.score_samples(other), expected)


def test_every_method_takes_frames(csv_gate, library):
    import copy

    from dissensus.inspection import assess

    gate, given = copy.copy(csv_gate), frame(library, ASKED)
    scores = -gate.score_samples(given)
    np.testing.assert_array_equal(gate.predict(given), np.where(scores > gate.threshold_, -1, 1))
    np.testing.assert_array_equal(gate.decide(given).score, scores)
    np.testing.assert_array_equal(gate.p_values(given), gate.decide(given).p_value)
    np.testing.assert_array_equal(gate.decision_function(given), gate.threshold_ - scores)
    np.testing.assert_array_equal(gate.statistics(given)[gate.statistic], scores)
    np.testing.assert_array_equal([row.score for row in gate.decide_stream(given)], scores)
    np.testing.assert_array_equal([found.decision.score for found in gate.explain(given)], scores)
    np.testing.assert_array_equal(assess(gate, given, shown=1).scores, scores)
    assert gate.log_likelihoods(given).values.shape == (4, len(ASKED))
    assert 0 <= gate.test_batch(given).p_value <= 1
    np.testing.assert_array_equal(gate.recalibrate(given).calibration_scores_, scores)


def test_what_no_training_row_had_is_said(csv_gate, library):
    given = frame(library, [ROWS[0], ROWS[0] | {"country": "Mars"}, NEVER_MISSING])
    said = [
        (),
        ("country: Mars, never seen",),
        ("price: missing, never so in training", "since: missing, never so in training"),
    ]
    assert [found.notes for found in csv_gate.explain(given)] == said
    assert [row.notes for row in csv_gate.decide_stream(given)] == ["; ".join(own) or None for own in said]
    assert csv_gate.explain(given)[1].to_dict()["notes"] == ["country: Mars, never seen"]


def test_what_is_missing_and_never_was_is_unusual(quick, tmp_path):
    gate = quick(epochs=20, statistic="mean-ll").fit(as_csv(tmp_path / "rows.csv", ROWS))
    usual, missing = gate.decide(frame("pandas", [ROWS[2], NEVER_MISSING])).score
    assert missing > max(usual, gate.calibration_scores_.max())


def test_all_cells_that_are_no_numbers_are_in_one_message(csv_gate):
    pandas = pytest.importorskip("pandas")
    given = pandas.DataFrame([ROWS[0], ROWS[1], ROWS[2]]).astype({"price": object, "age": object})
    given.loc[1, "price"], given.loc[2, "age"], given.loc[2, "price"] = "1,499", "old", "much"
    with pytest.raises(DataError) as error:
        csv_gate.score_samples(given)
    assert str(error.value) == (
        "X cannot be scored at row 1: column 'price' holds '1,499', which is no finite number; "
        "at row 2: column 'age' holds 'old', which is no finite number"
    )


@pytest.mark.parametrize("bad", [["a", "b", "c", "d", "e"], ["price", "country"]])
def test_a_frame_of_other_columns_is_refused_in_the_words_of_scikit_learn(csv_gate, library, bad):
    given = frame(library, [dict.fromkeys(bad, 1.0)])
    with pytest.raises(ValueError, match="The feature names should match those that were passed") as error:
        csv_gate.predict(given)
    assert "yet now missing:\n- age\n" in str(error.value)
    assert ("unseen at fit time:\n- a\n- b\n" in str(error.value)) == (bad[0] == "a")


def test_frames_of_numbers_are_rows_with_names(quick, rows, tmp_path):
    pandas = pytest.importorskip("pandas")
    given = pandas.DataFrame(rows, columns=["a", "b", "c", "d"])
    gate, plain = quick().fit(given), quick().fit(rows)
    np.testing.assert_array_equal(gate.score_samples(given), plain.score_samples(rows))
    np.testing.assert_array_equal(gate.score_samples(given[["d", "b", "a", "c"]]), plain.score_samples(rows))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        np.testing.assert_array_equal(gate.score_samples(rows), plain.score_samples(rows))
    with pytest.warns(UserWarning, match="X has feature names, but"):
        np.testing.assert_array_equal(plain.score_samples(given), plain.score_samples(rows))
    gate.save(tmp_path / "gate")
    again = BayesianVAE.load(tmp_path / "gate", device="cpu")
    assert again.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    numbered = quick().fit(pandas.DataFrame(rows))
    assert not hasattr(numbered, "feature_names_in_")
    np.testing.assert_array_equal(numbered.score_samples(rows), plain.score_samples(rows))


def test_types_of_pandas_own(csv_gate, library):
    pandas = pytest.importorskip("pandas")
    given = pandas.DataFrame(ASKED)
    typed = given.astype({"age": "Int64", "country": "category", "member": "boolean"})
    np.testing.assert_array_equal(csv_gate.score_samples(typed), csv_gate.score_samples(given))


def test_scikit_learn_checks_names_of_columns():
    """All that its check demands, but that columns in another order are an error: here names decide."""
    pytest.importorskip("pandas")
    from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency

    gate = BayesianVAE(epochs=2, draws=2, samples=2, statistic="kl", device="cpu", false_alarm_rate=0.2)
    with pytest.raises(AssertionError, match="predict did not raise"):  # on names[::-1]
        check_dataframe_column_names_consistency("BayesianVAE", gate)


def test_frames_that_cannot_be_read_are_refused():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    with pytest.raises(DataError, match="whose names are not texts"):
        BayesianVAE().fit(pandas.DataFrame({"a": [1.0] * 9, 1: [2.0] * 9}))
    with pytest.raises(DataError, match="two columns named 'a'"):
        BayesianVAE().fit(pandas.DataFrame(np.zeros((9, 2)), columns=["a", "a"]))
    with pytest.raises(DataError, match="collect"):
        BayesianVAE().fit(polars.DataFrame({"a": [1.0] * 9}).lazy())
