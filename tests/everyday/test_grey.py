"""Grey pictures saved as RGB, as scanners and many programs save them."""

import numpy as np
import pytest
from PIL import Image

from dissensus import Detector
from dissensus.errors import DataError, InputWarning
from dissensus.inputs import ImageFolder
from tests.cli.conftest import stripes
from tests.everyday.conftest import TINY

SMALL = TINY | {"false_alarm_rate": 0.3}


def in_colour(pictures):
    return np.repeat(pictures[..., None], 3, axis=-1)


@pytest.fixture(scope="module")
def scans(tmp_path_factory):
    """A folder of grey pictures, saved as RGB."""
    folder = tmp_path_factory.mktemp("scans")
    for number, pixels in enumerate(stripes(60)):
        suffix = "jpg" if number % 3 == 0 else "png"
        Image.fromarray(in_colour(pixels)).save(folder / f"{number:02d}.{suffix}")
    return folder


@pytest.fixture(scope="module")
def gate(scans):
    with pytest.warns(InputWarning, match="all grey, though they are saved in colour"):
        return Detector(**SMALL).fit(scans)


def test_they_are_modelled_as_grey(gate):
    assert gate.preprocessor_.shape == (8, 8, 1)


@pytest.mark.parametrize("form", ["folder", "npy", "floats", "array"])
def test_they_are_where_inputs_stay_on_disk_too(gate, scans, tmp_path, form):
    pixels = np.stack([np.asarray(Image.open(path)) for path in sorted(scans.iterdir())])
    source = {"folder": scans, "array": pixels}.get(form, tmp_path / "pictures.npy")
    np.save(tmp_path / "pictures.npy", pixels if form == "npy" else (pixels / 255).astype(np.float32))
    with pytest.warns(InputWarning, match="60 pictures that are all grey") as caught:
        own = Detector(**SMALL).fit(source, memory="64 GB")
    assert {warning.filename for warning in caught} == {__file__}
    assert own.preprocessor_.shape == (8, 8, 1)
    new = stripes(4, seed=1)
    np.testing.assert_array_equal(own.score_samples(new), gate.score_samples(new))


def test_the_same_picture_scores_the_same_however_it_is_saved(gate, tmp_path):
    pixels = stripes(4, seed=1)
    colours, grey = gate.score_samples(in_colour(pixels)), gate.score_samples(pixels)
    np.testing.assert_array_equal(colours, grey)
    np.testing.assert_array_equal(
        gate.score_samples(in_colour(pixels) / 255), gate.score_samples(pixels / 255)
    )
    Image.fromarray(pixels[0]).save(tmp_path / "b.png")
    Image.fromarray(in_colour(pixels[1])).save(tmp_path / "a.png")
    np.testing.assert_array_equal(gate.score_samples(tmp_path), grey[[1, 0]])
    assert gate.explain(in_colour(pixels)[0]).decision.score == -grey[0]


def test_pictures_in_colour_are_named(gate, tmp_path):
    pixels = in_colour(stripes(3, seed=1))
    pixels[1, 2, 3] = (250, 0, 0)
    with pytest.raises(DataError, match="at row 1: it is in colour"):
        gate.predict(pixels)
    for number, picture in enumerate(pixels):
        Image.fromarray(picture).save(tmp_path / f"{number}.png")
    rows = list(gate.decide_stream(tmp_path, on_error="skip"))
    assert [row.score is None for row in rows] == [False, True, False]
    assert "is in colour" in rows[1].error
    np.save(tmp_path / "pictures.npy", pixels)
    rows = list(gate.decide_stream(tmp_path / "pictures.npy", on_error="skip"))
    assert [row.score is None for row in rows] == [False, True, False]


@pytest.mark.parametrize("colour_first", [True, False])
def test_a_picture_in_colour_is_named_wherever_it_stands(gate, tmp_path, colour_first):
    pixels = in_colour(stripes(1, seed=1)[0])
    pixels[2, 3] = (250, 0, 0)
    Image.fromarray(pixels).save(tmp_path / ("a.png" if colour_first else "c.png"))
    Image.fromarray(stripes(1, seed=1)[0]).save(tmp_path / "b.png")
    rows = list(gate.decide_stream(tmp_path, on_error="skip"))
    assert [row.score is None for row in rows] == [colour_first, not colour_first]


@pytest.mark.parametrize("colour_first", [True, False])
@pytest.mark.parametrize("suffix", ["png", "jpg", "tif"])
def test_a_folder_with_a_picture_in_colour_has_colours(tmp_path, colour_first, suffix):
    for number, pixels in enumerate(stripes(3)):
        Image.fromarray(pixels).save(tmp_path / f"b{number}.{suffix}")
    pixels = in_colour(stripes(1)[0])
    pixels[2, 3] = (250, 0, 0)
    Image.fromarray(pixels).save(tmp_path / (f"a.{suffix}" if colour_first else f"c.{suffix}"))
    (tmp_path / f"b3.{suffix}").write_bytes(b"damaged")
    folder = ImageFolder(tmp_path, on_error="skip")
    assert folder.load().shape == (4, 8, 8, 3)
    assert len(folder.skipped) == 1


@pytest.mark.parametrize("mode", ["1", "L", "LA", "I;16"])
def test_every_way_to_store_grey_is_grey(tmp_path, mode):
    for name in "ab":
        Image.new(mode, (8, 8)).save(tmp_path / f"{name}.png")
    assert ImageFolder(tmp_path).shape == (8, 8)


def test_one_picture_in_colour_is_enough_to_model_colours():
    pixels = in_colour(stripes(60))
    pixels[59, 0, 0] = (250, 0, 0)
    assert Detector(**SMALL).fit(pixels).preprocessor_.shape == (8, 8, 3)


def test_a_model_of_colours_is_left_its_colours():
    wide = Detector(**SMALL).fit(np.random.default_rng(0).integers(0, 256, (60, 8, 8, 3), np.uint8))
    for memory in (None, "64 GB"):
        own = Detector(**SMALL, model=wide.model_).fit(in_colour(stripes(60)), memory=memory)
        assert own.preprocessor_.shape == (8, 8, 3)
