"""Preprocessors: learnt, asked, and read back from what was saved."""

import json

import numpy as np
import pytest

from dissensus.errors import ArtifactError, DataError
from dissensus.inputs import Prepared, Table, fit_preprocessor, restore_preprocessor

ALL = np.arange(40)
RANDOM = np.random.default_rng(0)
INPUTS = {
    "rows": RANDOM.normal(size=(40, 3)) * [1, 10, 100],
    "table": Table({"x": [str(n % 7) for n in range(40)], "pet": ["cat", "dog"] * 20}, range(40)),
    "pictures": RANDOM.integers(0, 256, (40, 8, 9, 1), dtype=np.uint8),
}


@pytest.fixture(params=INPUTS)
def kind(request):
    return request.param


def test_what_is_saved_reads_as_what_was_learnt(kind):
    found, array = fit_preprocessor(INPUTS[kind], ALL, resize=(8, 9))
    config = json.loads(json.dumps(found.config()))
    again = restore_preprocessor(config, found.arrays(), found.shape, resize=(8, 9))
    np.testing.assert_array_equal(again.read(INPUTS[kind]).array, array)
    np.testing.assert_array_equal(again.transform(array), found.transform(array))
    assert (again.kind, again.shape, again.resize) == (found.kind, array.shape[1:], (8, 9))
    assert again.config() == config


def test_the_inverse_gives_the_inputs_back(kind):
    found, array = fit_preprocessor(INPUTS[kind], ALL)
    seen = found.transform(array)
    shown = found.inverse(seen / np.float32(255) if found.pictured else seen, array.dtype)
    np.testing.assert_allclose(shown, array, rtol=1e-5, atol=1e-4)
    assert shown.shape == array.shape


def test_scales_are_learnt_from_the_training_rows_alone():
    rows = np.vstack([np.zeros((20, 1)), np.full((20, 1), 9.0)])
    found, _ = fit_preprocessor(rows, ALL[:20])
    np.testing.assert_array_equal(found.transform(rows[20:]), np.full((20, 1), 9.0, np.float32))


def test_blank_and_made_up_inputs_can_be_read(kind):
    found, _ = fit_preprocessor(INPUTS[kind], ALL)
    assert np.isfinite(found.transform(found.blank(3))).all()
    made_up = found.made_up(3, np.random.default_rng(0))
    assert found.blank(3).shape == made_up.shape == (3, *found.shape)
    assert made_up.dtype == found.transform(found.blank(3)).dtype


def test_what_is_missing_and_never_was_is_ten_deviations_out():
    found, _ = fit_preprocessor(INPUTS["table"], ALL)
    read = found.read(Table({"x": [None, "3"], "pet": ["cat", "eel"]}, range(2)))
    assert found.transform(read.array)[0, 0] == pytest.approx(10)
    assert read.notes == {0: ["x: missing, never so in training"], 1: ["pet: eel, never seen"]}
    assert not read.problems


def test_kinds_are_not_mixed_up():
    known = {kind: fit_preprocessor(inputs, ALL)[0] for kind, inputs in INPUTS.items()}
    for asked, given, words in [
        ("rows", "pictures", "takes rows"),
        ("rows", "table", "fitted on an array without names"),
        ("pictures", "rows", "takes images"),
        ("pictures", "table", "fitted on pictures"),
        ("table", "pictures", "takes rows"),
        (
            "table",
            "rows",
            "3 features, but dissensus is expecting 2 features as input: give it a table with the columns",
        ),
    ]:
        with pytest.raises(DataError, match=words):
            known[asked].read(INPUTS[given])


def test_names_and_scales_of_another_kind_are_refused():
    rows, pictures = (fit_preprocessor(INPUTS[kind], ALL)[0] for kind in ("rows", "pictures"))
    with pytest.raises(ArtifactError, match="another kind"):
        restore_preprocessor(pictures.config(), rows.arrays(), pictures.shape, resize=None)
    with pytest.raises(ArtifactError, match="another kind"):
        restore_preprocessor(rows.config(), {}, rows.shape, resize=None)
    with pytest.raises(ArtifactError, match="means or scales"):
        restore_preprocessor(rows.config(), rows.arrays(), (4,), resize=None)


def test_problems_of_all_columns_are_told_once():
    problems = {1: {"a": "a is bad", "b": "b is bad"}, 2: {"a": "a is worse"}, 3: {"": "it is short"}}
    prepared = Prepared(np.zeros((4, 2)), problems, {0: ["new"], 2: ["newer"]})
    with pytest.raises(DataError) as error:
        prepared.refuse_problems([0, "b", 2, 3])
    assert str(error.value) == "X cannot be scored at b: a is bad; b is bad; at row 3: it is short"
    assert prepared.reasons == {1: "a is bad; b is bad", 2: "a is worse", 3: "it is short"}
    assert len(prepared.usable()) == 1
    assert prepared.usable().notes == {0: ["new"]}
    assert prepared.alone(2).notes == {0: ["newer"]}
    Prepared(np.zeros((4, 2))).refuse_problems(range(4))
