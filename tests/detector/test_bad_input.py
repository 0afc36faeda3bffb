"""What cannot be used is refused in one sentence that says what is wrong with what."""

import numpy as np
import pytest
import torch
from PIL import Image
from sklearn.exceptions import NotFittedError

from dissensus import BayesianVAE
from dissensus.errors import CalibrationWarning, DataError


def one_sentence(error):
    text = str(error.value)
    assert text
    assert "\n" not in text
    return text


def save_picture(path, shape=(10, 12), seed=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)).save(path)


def test_a_folder_of_one_picture(quick, tmp_path):
    save_picture(tmp_path / "a.png")
    with pytest.raises(DataError, match=r"X holds too few rows \(n_samples=1\): give at least 5") as error:
        quick().fit(tmp_path)
    one_sentence(error)


def test_an_empty_folder(quick, picture_gate, tmp_path):
    for call in (quick().fit, picture_gate.predict):
        with pytest.raises(DataError, match=r"holds no images; formats are told by suffix") as error:
            call(tmp_path)
        assert str(tmp_path) in one_sentence(error)


def test_a_corrupt_picture_among_good_ones(quick, tmp_path):
    for index in range(8):
        save_picture(tmp_path / f"{index}.png", seed=index)
    whole = (tmp_path / "3.png").read_bytes()
    (tmp_path / "3.png").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"3\.png cannot be read as an image .*repair or remove it") as error:
        quick().fit(tmp_path)
    one_sentence(error)


def test_pictures_of_mixed_sizes(quick, tmp_path):
    for index in range(8):
        save_picture(tmp_path / f"{index}.png", (10, 12 + (index == 5)))
    with pytest.raises(
        DataError,
        match=r"5\.png is 10×13 but .*0\.png is 10×12; bring all to one size, in Python with resize=",
    ) as error:
        quick().fit(tmp_path)
    one_sentence(error)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["rows", "pictures"])
def test_nan_and_infinity(quick, fitted, inputs, kind, bad):
    array = inputs[kind] / (1 if kind == "rows" else 255)
    array[7].flat[2] = bad
    for call in (quick().fit, fitted(kind).predict):
        with pytest.raises(
            DataError, match=r"^X holds NaN or infinite values in 1 of \d+ rows, first in row 7;"
        ) as e:
            call(array)
        assert "remove or repair" in one_sentence(e)


@pytest.mark.parametrize(("value", "dtype"), [(-1, np.int16), (256, np.int32)])
def test_integers_outside_a_byte(quick, picture_gate, pictures, value, dtype):
    array = pictures.astype(dtype)
    array[4, 0, 0] = value
    for call in (quick().fit, picture_gate.predict):
        with pytest.raises(
            DataError, match=r"X holds integers .* outside 0..255 first in row 4; rescale"
        ) as error:
            call(array)
        one_sentence(error)


def test_floats_that_are_not_in_the_unit_interval(picture_gate, pictures):
    with pytest.raises(DataError, match=r"outside \[0, 1\]; divide by 255") as error:
        picture_gate.predict(pictures.astype(float))
    one_sentence(error)


def test_the_wrong_number_of_channels(picture_gate, pictures):
    with pytest.raises(
        DataError, match="at row 0: it is in colour, and this detector was fitted on grey"
    ) as e:
        picture_gate.predict(np.stack([pictures, pictures, 255 - pictures], axis=3))
    assert "make it grey" in one_sentence(e)
    with pytest.raises(DataError, match="last axis must be 1 channel"):
        picture_gate.predict(np.repeat(pictures[..., None], 4, axis=3))
    with pytest.raises(DataError, match=r"channels come last here: pass X\.transpose"):
        picture_gate.predict(torch.from_numpy(pictures)[:, None])


def test_the_wrong_height_or_width(picture_gate, pictures):
    with pytest.raises(
        DataError, match=r"X holds images of 12×10 .* and 10×12 .* was expected; resize"
    ) as error:
        picture_gate.predict(pictures.transpose(0, 2, 1))
    one_sentence(error)


def test_rows_for_pictures_and_pictures_for_rows(picture_gate, row_gate, rows, pictures):
    with pytest.raises(
        DataError, match=r"X has shape \(80, 120\).*takes images: give it \(N, 10, 12, 1\)"
    ) as error:
        picture_gate.predict(pictures.reshape(80, 120))
    one_sentence(error)
    with pytest.raises(DataError, match=r"X has shape \(80, 10, 12\).*takes rows: give it \(N, 4\)") as error:
        row_gate.predict(pictures)
    one_sentence(error)


def test_one_picture_without_its_first_axis(picture_gate, pictures):
    with pytest.raises(DataError, match=r"takes images: give it \(N, 10, 12, 1\)"):
        picture_gate.predict(pictures[0])


def test_another_number_of_columns(row_gate, rows):
    with pytest.raises(DataError, match="X has 3 features, but dissensus is expecting 4 features") as error:
        row_gate.predict(rows[:, :3])
    one_sentence(error)


@pytest.mark.parametrize("rows_given", [1, 4])
@pytest.mark.parametrize("kind", ["rows", "pictures"])
def test_too_few_rows(quick, inputs, kind, rows_given):
    with pytest.raises(DataError, match=rf"n_samples={rows_given}\): give at least 5") as error:
        quick().fit(inputs[kind][:rows_given])
    one_sentence(error)


@pytest.mark.parametrize("kind", ["rows", "pictures"])
def test_no_rows(quick, fitted, inputs, kind):
    for call in (quick().fit, fitted(kind).predict):
        with pytest.raises(DataError) as error:
            call(inputs[kind][:0])
        one_sentence(error)


@pytest.mark.parametrize(
    "ragged", [[[1.0, 2.0], [3.0]], [np.zeros((8, 8)), np.zeros((9, 8))], ([[[1]]], [[2]])]
)
def test_lists_of_different_lengths(quick, row_gate, ragged):
    for call in (quick().fit, row_gate.predict):
        with pytest.raises(DataError, match="X is made of lists of different lengths; give all") as error:
            call(ragged)
        one_sentence(error)


@pytest.mark.parametrize(
    "nothing", ["no-such-file.npy", "no-such-folder/", "no-such.png", "", "x" * 5000, "a\0b"]
)
@pytest.mark.parametrize("resize", [None, (8, 8)])
def test_paths_to_nothing(quick, nothing, resize):
    with pytest.raises(DataError, match="X: there is no file") as error:
        quick(resize=resize).fit(nothing)
    one_sentence(error)


@pytest.mark.parametrize("thing", [None, 7, {"a": 1}, "abc", [["a", "b"], ["c", "d"]], object()])
def test_things_that_are_no_inputs(quick, row_gate, thing):
    for call in (quick().fit, row_gate.predict):
        with pytest.raises((ValueError, TypeError)):
            call(thing)


@pytest.mark.parametrize(
    "method", ["predict", "score_samples", "decision_function", "p_values", "decide", "log_likelihoods"]
)
def test_nothing_is_answered_before_fit(quick, rows, method):
    with pytest.raises(NotFittedError, match="not fitted"):
        getattr(quick(), method)(rows)


def test_nothing_is_saved_before_fit(quick, tmp_path):
    with pytest.raises(NotFittedError):
        quick().save(tmp_path / "gate")
    assert not (tmp_path / "gate").exists()


def test_a_fit_that_failed_leaves_no_half_fitted_detector(quick, rows, pictures):
    gate = quick().fit(rows)

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gate.fit(pictures, on_progress=stop)
    with pytest.raises(NotFittedError):
        gate.predict(rows)


def test_a_rate_that_the_rows_do_not_allow_is_said(quick, rows, tmp_path):
    with pytest.warns(CalibrationWarning, match="takes 99 calibration rows and there are 15") as seen:
        gate = quick(false_alarm_rate=0.01).fit(rows)
    assert seen[0].filename == __file__
    assert (gate.predict(rows * 1e6) == 1).all()
    gate.save(tmp_path / "gate")
    with pytest.warns(CalibrationWarning) as seen:
        BayesianVAE.load(tmp_path / "gate")
    assert seen[0].filename == __file__
