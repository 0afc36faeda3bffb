"""Everything that stands for inputs, and that the form they come in does not change their scores."""

import numpy as np
import pytest
import torch
from PIL import Image

from dissensus import ImageFolder
from dissensus.inputs import Dataset


def write_pictures(folder, pictures):
    folder.mkdir(parents=True, exist_ok=True)
    for index, picture in enumerate(pictures):
        Image.fromarray(picture).save(folder / f"{index:03d}.png")
    return folder


@pytest.mark.parametrize(
    "give",
    [
        lambda rows: rows.tolist(),
        lambda rows: torch.from_numpy(rows),
        lambda rows: torch.from_numpy(rows).requires_grad_(),
        lambda rows: np.asfortranarray(rows),
        lambda rows: rows.astype(">f8"),
        lambda rows: np.repeat(rows, 2, axis=0)[::2],
    ],
    ids=["lists", "tensor", "tensor with gradient", "Fortran order", "big-endian", "strided"],
)
def test_rows_in_any_form(row_gate, rows, give):
    np.testing.assert_allclose(row_gate.score_samples(give(rows)), row_gate.score_samples(rows), rtol=1e-6)


@pytest.mark.parametrize(
    "give",
    [
        lambda x: x[..., None],
        lambda x: x.tolist(),
        lambda x: x.astype(np.int64),
        lambda x: torch.from_numpy(x),
        lambda x: (x / 255).astype(np.float32),
        lambda x: x / 255,
        lambda x: torch.from_numpy(x).float() / 255,
        lambda x: Dataset(x, np.zeros(len(x), np.uint8), "made up", "test"),
    ],
    ids=["channel axis", "lists", "int64", "tensor", "float32", "float64", "float tensor", "Dataset"],
)
def test_pictures_in_any_form(picture_gate, pictures, give):
    some = pictures[:30]
    np.testing.assert_allclose(
        picture_gate.score_samples(give(some)), picture_gate.score_samples(some), rtol=1e-5
    )


def test_black_and_white_is_0_and_255(picture_gate, pictures):
    bright = pictures[:20] > 100
    np.testing.assert_array_equal(
        picture_gate.score_samples(bright), picture_gate.score_samples(bright * np.uint8(255))
    )


def test_fitting_on_floats_and_on_uint8_is_the_same(quick, picture_gate, pictures):
    gate = quick().fit((pictures / 255).astype(np.float32))
    np.testing.assert_allclose(
        gate.score_samples(pictures[:20]), picture_gate.score_samples(pictures[:20]), rtol=1e-4
    )


def test_colour_pictures(quick):
    colour = np.random.default_rng(0).integers(0, 256, (60, 8, 9, 3), dtype=np.uint8)
    gate = quick().fit(colour)
    assert gate.n_features_in_ == 8 * 9 * 3
    assert gate.preprocessor_.shape == (8, 9, 3)
    np.testing.assert_allclose(
        gate.score_samples(colour[:9] / 255), gate.score_samples(colour[:9]), rtol=1e-5
    )


@pytest.mark.parametrize(
    "observation", ["continuous-bernoulli", "gaussian", "categorical", "discretised-logistic"]
)
def test_every_observation_model_fits_pictures(quick, pictures, observation):
    gate = quick(observation=observation, epochs=2, draws=2).fit(pictures)
    assert np.isfinite(gate.score_samples(pictures[:9])).all()


@pytest.mark.parametrize("give", [str, lambda path: path, ImageFolder], ids=["str", "Path", "ImageFolder"])
def test_a_folder_is_its_pictures(quick, picture_gate, pictures, tmp_path, give, monkeypatch):
    monkeypatch.setattr("dissensus.detector.inputs.CHUNK_ROWS", 7)
    folder = write_pictures(tmp_path / "pictures", pictures)
    gate = quick().fit(give(folder))
    expected = picture_gate.score_samples(pictures)
    np.testing.assert_allclose(gate.score_samples(give(folder)), expected, rtol=1e-6)
    np.testing.assert_allclose(gate.score_samples(pictures), expected, rtol=1e-6)
    assert gate.log_likelihoods(give(folder)).values.shape == (4, len(pictures))


def test_an_image_file_is_one_picture(picture_gate, pictures, tmp_path):
    folder = write_pictures(tmp_path / "one", pictures[:1])
    np.testing.assert_allclose(
        picture_gate.score_samples(folder / "000.png"), picture_gate.score_samples(pictures[:1]), rtol=1e-6
    )


@pytest.mark.parametrize("kind", ["rows", "pictures"])
def test_a_numpy_file_is_its_array(fitted, inputs, tmp_path, kind):
    gate = fitted(kind)
    np.save(tmp_path / "x.npy", inputs[kind])
    np.testing.assert_array_equal(gate.score_samples(tmp_path / "x.npy"), gate.score_samples(inputs[kind]))


def test_pictures_of_many_sizes_are_resized_on_request(quick, tmp_path):
    rng = np.random.default_rng(0)
    folder = tmp_path / "mixed"
    for index in range(30):
        side = 9 + index
        write_pictures(folder / str(index), rng.integers(0, 256, (1, side, 2 * side), dtype=np.uint8))
    gate = quick(resize=(8, 10)).fit(folder)
    assert gate.preprocessor_.shape == (8, 10, 1)
    scores = gate.score_samples(folder)
    assert scores.shape == (30,)
    np.save(tmp_path / "x.npy", rng.integers(0, 256, (3, 8, 10), dtype=np.uint8))
    assert gate.score_samples(tmp_path / "x.npy").shape == (3,)
    gate.save(tmp_path / "gate")
    again = type(gate).load(tmp_path / "gate", device="cpu")
    np.testing.assert_allclose(again.score_samples(folder), scores, rtol=1e-6)


def test_fewer_rows_than_a_batch_are_enough(quick, rows):
    gate = quick(batch_size=512).fit(rows[:30])
    assert np.isfinite(gate.score_samples(rows)).all()


@pytest.mark.filterwarnings("ignore::dissensus.errors.CalibrationWarning")
def test_the_fewest_rows_there_may_be(quick, rows):
    assert np.isfinite(quick().fit(rows[:5]).score_samples(rows)).all()


def test_constant_columns_are_taken_and_watched(quick, rows):
    with_constants = np.hstack([rows, np.full((len(rows), 1), 7.0), np.zeros((len(rows), 1))])
    gate = quick(statistic="mean-ll", epochs=20).fit(with_constants)
    changed = with_constants.copy()
    changed[:, 4] = 70
    assert np.isfinite(gate.score_samples(with_constants)).all()
    assert (gate.score_samples(changed) < gate.score_samples(with_constants)).all()
    assert (gate.predict(changed) == -1).all()


@pytest.mark.parametrize("size", [1e150, 1e300, 1.7e308])
def test_huge_values_have_finite_scores(row_gate, quick, rows, size):
    far = np.vstack([np.full((1, 4), size), np.full((1, 4), -size)])
    assert np.isfinite(row_gate.score_samples(far)).all()
    huge = rows / np.abs(rows).max(axis=0) * size
    assert np.isfinite(quick().fit(huge).score_samples(huge)).all()


def test_inputs_are_left_as_they_were(quick, inputs):
    for array in inputs.values():
        before = array.copy()
        gate = quick().fit(array)
        gate.predict(array)
        np.testing.assert_array_equal(array, before)
