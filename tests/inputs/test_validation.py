import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import DataError
from dissensus.inputs import check_images

RNG = np.random.default_rng(0)
BYTES = RNG.integers(0, 256, (4, 8, 9), np.uint8)


@pytest.mark.parametrize("shape", [(4, 8, 9), (4, 8, 9, 1), (4, 8, 9, 3), (1, 8, 8)])
def test_shapes_get_a_channel_axis(shape):
    checked = check_images(np.zeros(shape, np.uint8))
    assert checked.shape == (shape if len(shape) == 4 else (*shape, 1))


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint16, np.int32, np.int64, np.uint64])
def test_integers_become_uint8(dtype):
    checked = check_images(BYTES.astype(dtype))
    assert checked.dtype == np.uint8
    np.testing.assert_array_equal(checked[..., 0], BYTES)


def test_uint8_is_not_copied():
    assert np.shares_memory(check_images(BYTES), BYTES)


def test_booleans_are_black_and_white():
    np.testing.assert_array_equal(check_images(BYTES > 99)[..., 0], np.where(BYTES > 99, 255, 0))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_in_the_unit_interval_become_float32(dtype):
    floats = (BYTES / 255).astype(dtype)
    checked = check_images(floats)
    assert checked.dtype == np.float32
    np.testing.assert_array_equal(checked[..., 0], floats.astype(np.float32))


def test_rounding_errors_are_clipped():
    floats = BYTES / 255
    floats[0, 0, :2] = -1e-7, 1 + 1e-7
    checked = check_images(floats)
    assert checked.min() >= 0
    assert checked.max() <= 1


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_name_the_row_and_how_many(bad):
    floats = BYTES / 255
    floats[2, 3, 4] = floats[3, 0, 0] = floats[3, 0, 1] = bad
    with pytest.raises(
        DataError, match=r"pictures holds NaN or infinite values in 2 of 4 rows, first in row 2;"
    ):
        check_images(floats, name="pictures")


@pytest.mark.parametrize(("value", "said"), [(256, "0 to 256|256"), (-1, "-1 to 255"), (70000, "70000")])
def test_integers_outside_0_to_255_are_refused(value, said):
    wide = BYTES.astype(np.int32)
    wide[1, 0, 0], wide[0, 0, 0] = value, 255
    with pytest.raises(DataError, match=rf"({said}), outside 0\.\.255 first in row 1; rescale"):
        check_images(wide)


@pytest.mark.parametrize(
    ("scale", "shift", "remedy"),
    [(255, 0, "divide by 255 or pass uint8"), (2, -1, r"rescale them to \[0, 1\]"), (999, 0, "rescale")],
)
def test_floats_outside_the_unit_interval_are_refused(scale, shift, remedy):
    with pytest.raises(DataError, match=remedy):
        check_images(BYTES / 255 * scale + shift)


@pytest.mark.parametrize(
    ("array", "complaint"),
    [
        (np.zeros((4, 8)), "rows or one single image"),
        (np.zeros(4), "images need"),
        (np.zeros((1, 1, 8, 8, 3)), "images need"),
        (np.zeros((4, 3, 8, 8)), r"X\.transpose\(0, 2, 3, 1\)"),
        (np.zeros((4, 8, 8, 4)), "1 channel"),
        (np.zeros((0, 8, 8)), "no images"),
        (np.zeros((4, 0, 8)), "at least 8"),
        (np.zeros((4, 7, 8)), "at least 8"),
        (np.zeros((32, 32, 3)), "first axis of length 1"),
        (np.zeros((4, 8, 8), complex), "complex128"),
        (np.zeros((4, 8, 8), object), "object"),
        (np.full((4, 8, 8), "a"), "dtype <U1"),
        ([[[1, 2], [3]]], "one shape"),
    ],
)
def test_other_shapes_and_types_are_refused(array, complaint):
    with pytest.raises(DataError, match=complaint):
        check_images(array)


def test_expected_shape():
    assert check_images(BYTES, expected=(8, 9, 1)).shape == (4, 8, 9, 1)
    with pytest.raises(DataError, match="8×9 with 1 channel and 8×9 with 3 channels was expected"):
        check_images(BYTES, expected=(8, 9, 3))


@settings(derandomize=True, deadline=None)
@given(
    value=st.one_of(st.integers(-(2**31), 2**31), st.floats(allow_nan=True, allow_infinity=True, width=64)),
)
def test_a_value_is_either_valid_or_refused(value):
    array = np.zeros((2, 8, 8), type(value))
    array[1, 2, 3] = value
    fine = 0 <= value <= (255 if isinstance(value, int) else 1)
    try:
        checked = check_images(array)
    except DataError:
        assert not fine
    else:
        assert checked[1, 2, 3, 0] == pytest.approx(value, abs=2e-6)
