"""From arrays to tensors: values, types, and strides that depend on the shape alone."""

import numpy as np
import pytest
import torch

from dissensus.models.inputs import to_tensor, unit_scale


@pytest.mark.parametrize("shape", [(5, 8, 9, 1), (5, 8, 9, 3), (1, 8, 9, 1), (5, 7), (1, 7), (0, 7)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64, np.int64])
def test_values_and_types(shape, dtype):
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    tensor = to_tensor(array)
    assert tensor.dtype == (torch.uint8 if dtype == np.uint8 else torch.float32)
    expected = array.transpose(0, 3, 1, 2) if array.ndim == 4 else array
    np.testing.assert_array_equal(tensor.numpy(), expected)


@pytest.mark.parametrize(
    "layout",
    [
        lambda grey: grey[..., None],
        lambda grey: np.ascontiguousarray(grey)[:, None].transpose(0, 2, 3, 1),
        lambda grey: grey.astype(bool)[..., None] * np.uint8(255),
        lambda grey: np.asfortranarray(grey[..., None]),
    ],
)
@pytest.mark.parametrize("count", [1, 5])
def test_strides_are_those_of_the_shape(layout, count):
    tensor = to_tensor(layout(np.ones((count, 8, 9), np.uint8)))
    assert tensor.stride() == torch.empty(count, 1, 8, 9).stride()


def test_bytes_become_numbers_up_to_one():
    assert unit_scale(torch.tensor([0, 51, 255], dtype=torch.uint8)).tolist() == pytest.approx([0, 0.2, 1])
    floats = torch.tensor([0.5])
    assert unit_scale(floats) is floats
