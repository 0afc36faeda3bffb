import numpy as np
import pytest

from dissensus.errors import DataError
from dissensus.inputs import (
    MADE_UP,
    blurred,
    constant,
    flipped,
    gaussian_noise,
    inverted,
    make_up,
    mixture,
    rotated,
    shuffled_patches,
    uniform_noise,
)

SHAPES = [(5, 28, 28), (5, 32, 32, 3), (3, 9, 13), (3, 17, 8, 3), (4, 8, 8, 1)]


def random_images(shape=(5, 28, 28)):
    return np.random.default_rng(1).integers(0, 256, shape, np.uint8)


@pytest.fixture
def rng():
    return np.random.default_rng(2)


@pytest.mark.parametrize("kind", MADE_UP)
@pytest.mark.parametrize("shape", SHAPES)
def test_same_shape_and_type_and_only_the_seed_matters(kind, shape):
    images = random_images(shape)
    before = images.copy()
    made = make_up(kind, images, seed=3)
    assert made.shape == shape
    assert made.dtype == np.uint8
    assert not np.shares_memory(made, images)
    np.testing.assert_array_equal(images, before)
    np.testing.assert_array_equal(made, make_up(kind, images, seed=3))
    assert not np.array_equal(made, images)


@pytest.mark.parametrize(
    "kind", ["uniform-noise", "gaussian-noise", "constant", "shuffled-patches", "mixture"]
)
def test_another_seed_gives_another_result(kind):
    images = random_images()
    assert not np.array_equal(make_up(kind, images, seed=0), make_up(kind, images, seed=1))


def test_uniform_noise_is_uniform(rng):
    counts = np.bincount(uniform_noise(np.zeros((200, 32, 32), np.uint8), rng).ravel(), minlength=256)
    expected = counts.sum() / 256
    # χ² with 255 degrees of freedom: mean 255, deviation √510
    assert abs(((counts - expected) ** 2 / expected).sum() - 255) < 5 * np.sqrt(510)


def test_gaussian_noise_has_the_moments_of_each_channel(rng):
    images = np.clip(rng.normal([60, 120, 180], [5, 10, 20], (50, 32, 32, 3)), 0, 255).astype(np.uint8)
    made = gaussian_noise(images, rng)
    for channel in range(3):
        assert made[..., channel].mean() == pytest.approx(images[..., channel].mean(), abs=0.5)
        assert made[..., channel].std() == pytest.approx(images[..., channel].std(), rel=0.03)


def test_gaussian_noise_of_equal_pixels_is_those_pixels(rng):
    images = np.full((3, 8, 8), 77, np.uint8)
    np.testing.assert_array_equal(gaussian_noise(images, rng), images)


@pytest.mark.parametrize("shape", SHAPES)
def test_constant_images_are_constant_and_differ(rng, shape):
    made = constant(random_images(shape), rng)
    assert (made == made[:, :1, :1]).all()
    assert len(np.unique(made[:, 0, 0].reshape(len(made), -1), axis=0)) > 1


def test_inverted_and_flipped_undo_themselves():
    images = random_images()
    for function in (inverted, flipped):
        np.testing.assert_array_equal(function(function(images)), images)
    assert inverted(images)[0, 3, 4] == 255 - images[0, 3, 4]
    np.testing.assert_array_equal(flipped(images)[:, 0], images[:, -1])


@pytest.mark.parametrize("shape", [(5, 28, 28), (5, 32, 32, 3)])
def test_rotated_squares_are_numpys_quarter_turn(shape):
    images = random_images(shape)
    np.testing.assert_array_equal(rotated(images), np.stack([np.rot90(image) for image in images]))


def test_rotated_oblongs_are_stretched():
    # The left half is white: turned to the left, the lower half is.
    images = np.zeros((1, 8, 16), np.uint8)
    images[:, :, :8] = 255
    made = rotated(images)
    assert (made[:, 4:] == 255).all()
    assert (made[:, :4] == 0).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_patches_are_the_same_patches_and_none_stays(rng, shape):
    images = random_images(shape)
    made = shuffled_patches(images, rng)
    height, width = shape[1:3]
    side = min(height, width) // 4
    rows, columns = height // side, width // side
    top, left = (height - rows * side) // 2, (width - columns * side) // 2
    for old, new in zip(images, made, strict=True):
        corners = [(top + r * side, left + c * side) for r in range(rows) for c in range(columns)]
        before = [old[y : y + side, x : x + side].tobytes() for y, x in corners]
        after = [new[y : y + side, x : x + side].tobytes() for y, x in corners]
        assert sorted(before) == sorted(after)
        if len(set(before)) == len(before):
            assert all(a != b for a, b in zip(before, after, strict=True))
        border = np.ones((height, width), bool)
        border[top : top + rows * side, left : left + columns * side] = False
        np.testing.assert_array_equal(old[border], new[border])


def test_patches_move_differently_in_each_image(rng):
    images = np.repeat(random_images((1, 28, 28)), 6, axis=0)
    assert len({image.tobytes() for image in shuffled_patches(images, rng)}) == 6


def test_blur_keeps_constants_and_channels_apart():
    images = np.zeros((2, 28, 28, 3), np.uint8)
    images[0, 14, 14, 1] = 255
    images[1] = 90
    made = blurred(images)
    assert not made[0, ..., [0, 2]].any()
    assert np.count_nonzero(made[0, ..., 1]) > 9
    np.testing.assert_array_equal(made[1], images[1])


def test_blur_is_the_gaussian_average():
    images = np.zeros((1, 28, 28), np.uint8)
    images[0, :, :14] = 255
    # A step blurred with deviation 2 follows the kernel's running sum.
    kernel = np.exp(-0.5 * (np.arange(-8, 9) / 2) ** 2)
    step = np.convolve((np.arange(-20, 48) < 14) * 255.0, kernel / kernel.sum(), "same")[20:48]
    np.testing.assert_allclose(blurred(images)[0, 10], step, atol=1)


def test_mixtures_are_averages_with_another_image(rng):
    images = (2 * np.arange(6)[:, None, None] * np.ones((1, 8, 8))).astype(np.uint8) ** 2
    made = mixture(images, rng)
    partners = 2 * made[:, 0, 0].astype(int) - images[:, 0, 0]
    assert sorted(partners) == sorted(images[:, 0, 0])
    assert (partners != images[:, 0, 0]).all()


def test_mixture_does_not_overflow(rng):
    images = np.full((2, 8, 8), 255, np.uint8)
    np.testing.assert_array_equal(mixture(images, rng), images)


def test_what_cannot_be_made_up_is_refused(rng):
    with pytest.raises(DataError, match="choose one of uniform-noise"):
        make_up("melted", random_images())
    with pytest.raises(DataError, match="float64"):
        make_up("inverted", random_images() / 255)
    with pytest.raises(DataError, match="uint8"):
        make_up("inverted", np.zeros((0, 8, 8), np.uint8))
    with pytest.raises(DataError, match="two images"):
        mixture(random_images((1, 8, 8)), rng)
    with pytest.raises(DataError, match="too small"):
        shuffled_patches(random_images((1, 1, 1)), rng)
