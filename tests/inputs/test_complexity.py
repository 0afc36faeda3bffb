"""Code lengths: of files that can be read again, and in the order that complexity has."""

import lzma
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from dissensus.errors import DataError
from dissensus.inputs import blurred, code_length, load_sample, uniform_noise
from dissensus.inputs.complexity import _FILTERS
from dissensus.inputs.predicted_code import predicted_length


@pytest.fixture(scope="module")
def images():
    return load_sample()[1].images[:40]


@pytest.mark.parametrize("channels", [None, 1, 3])
def test_images_take_the_pixel_data_of_a_png(images, channels):
    shaped = images if channels is None else np.repeat(images[..., None], channels, axis=3)
    for image, bits in zip(shaped[:5], code_length(shaped[:5]), strict=True):
        buffer = BytesIO()
        Image.fromarray(image[..., 0] if channels == 1 else image).save(buffer, "PNG", compress_level=9)
        content = buffer.getvalue()
        start = content.index(b"IDAT")
        assert bits == 8 * int.from_bytes(content[start - 4 : start], "big")
        assert content.count(b"IDAT") == 1


def test_rows_take_what_lzma_makes_of_their_bytes():
    rows = np.random.default_rng(0).normal(size=(4, 30))
    for row, bits in zip(rows, code_length(rows), strict=True):
        packed = lzma.compress(row.tobytes(), format=lzma.FORMAT_RAW, filters=_FILTERS)
        assert bits == 8 * len(packed)
        again = lzma.decompress(packed, format=lzma.FORMAT_RAW, filters=_FILTERS)
        np.testing.assert_array_equal(np.frombuffer(again), row)


def test_constant_is_simpler_than_blurred_than_clothes_than_noise(images):
    rng = np.random.default_rng(0)
    kinds = [np.full_like(images, 77), blurred(images), images, uniform_noise(images, rng)]
    means = [code_length(kind).mean() for kind in kinds]
    assert means == sorted(means)
    assert means[-1] >= 8 * 784  # noise cannot be packed
    assert code_length(rng.normal(size=(3, 200))).min() > code_length(np.zeros((3, 200))).max()


def test_an_image_has_a_length_of_its_own(images):
    together = code_length(images)
    np.testing.assert_array_equal(np.concatenate([code_length(image[None]) for image in images]), together)
    np.testing.assert_array_equal(code_length(images[::-1])[::-1], together)
    assert code_length(images[:0]).shape == (0,)


@pytest.mark.parametrize(
    "inputs",
    [np.zeros((2, 8, 8)), np.zeros((2, 8, 8, 2), np.uint8), np.zeros(4), np.zeros((1, 2, 3, 4, 5), np.uint8)],
)
def test_other_inputs_are_refused(inputs):
    with pytest.raises(DataError, match="uint8 images"):
        code_length(inputs)


def test_the_predicted_length_asks_what_the_code_length_asks_and_is_exact_in_any_company():
    images = load_sample()[0].images[:40, ..., None]
    kinds = [images, blurred(images), uniform_noise(images, np.random.default_rng(0))]
    means = [predicted_length(kind).mean() for kind in kinds]
    assert means[1] < means[0] < means[2]
    assert np.corrcoef(predicted_length(images), code_length(images))[0, 1] > 0.9
    together = predicted_length(images)
    np.testing.assert_array_equal(
        np.concatenate([predicted_length(image[None]) for image in images]), together
    )
    assert predicted_length(images[:0]).shape == (0,)


def test_the_predicted_length_is_that_of_its_equation():
    image = np.random.default_rng(0).integers(0, 256, (5, 6, 3), np.uint8)
    x, bits = np.pad(image.astype(int), ((1, 0), (1, 0), (0, 0))), 0.0
    for i, j, c in np.ndindex(image.shape):
        a, b, corner = x[i + 1, j, c], x[i, j + 1, c], x[i, j, c]
        bits += np.log2(1 + abs(x[i + 1, j + 1, c] - np.median([a, b, a + b - corner])))
    assert predicted_length(image[None])[0] == pytest.approx(bits, abs=image.size / 2048)
