"""What each column or patch of an input does to the disagreement, against one exchange at a time."""

import numpy as np
import pytest
import torch

from dissensus.explain import occlusion
from dissensus.models.inputs import occluded


def exact_model(shape, seed=0):
    """log p (M, n) of four laws N(μ_m, I) over inputs of a shape, in float64."""
    means = torch.from_numpy(np.random.default_rng(seed).normal(size=(4, *shape)))

    def matrix(x):
        calls.append(len(x))
        x = x.double() / 255 if x.dtype == torch.uint8 else x.double()
        return torch.stack([-0.5 * (x - mean).square().flatten(1).sum(1) for mean in means]).numpy()

    calls = []
    return matrix, calls


def spread(matrix):
    """The disagreement (n,) by a matrix."""
    return lambda x: matrix(x).std(axis=0)


def by_hand(picture, matrix):
    """The map (H, W) of a picture (C, H, W), pixel by pixel: each looks for its own patch."""
    _, height, width = picture.shape
    found = np.empty((height, width))
    whole = matrix(picture[None]).std()
    patch_rows, patch_columns = min(8, height), min(8, width)
    for row in range(height):
        for column in range(width):
            without = picture.clone()
            for r in range(height):
                for c in range(width):
                    if (
                        r * patch_rows // height == row * patch_rows // height
                        and c * patch_columns // width == column * patch_columns // width
                    ):
                        for channel, plane in enumerate(picture):
                            mean = plane.double().mean()
                            without[channel, r, c] = mean.round() if picture.dtype == torch.uint8 else mean
            found[row, column] = max(0.0, whole - matrix(without[None]).std())
    return found


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
@pytest.mark.parametrize("shape", [(1, 3, 4), (3, 8, 8), (1, 9, 20), (2, 1, 11)], ids=str)
def test_pictures_against_brute_force(shape, dtype):
    rng = np.random.default_rng(1)
    values = rng.integers(0, 256, (2, *shape)) if dtype == torch.uint8 else rng.random((2, *shape))
    pictures = torch.from_numpy(values).to(dtype)
    matrix, _ = exact_model(shape)
    maps = occlusion(pictures, spread(matrix))
    assert maps.shape == (2, *shape[1:])
    assert maps.max() > 0
    for found, picture in zip(maps, pictures, strict=True):
        np.testing.assert_allclose(found, by_hand(picture, matrix), rtol=1e-9, atol=1e-12)


def test_the_number_of_calls_is_bounded_whatever_the_size():
    matrix, calls = exact_model((1, 100, 70))
    occlusion(torch.rand(3, 1, 100, 70), spread(matrix))
    assert calls == [65, 65, 65]


def test_rows_against_brute_force():
    rows = torch.from_numpy(np.random.default_rng(2).normal(size=(3, 5)).astype(np.float32))
    matrix, _ = exact_model((5,))
    for found, row in zip(occlusion(rows, spread(matrix)), rows, strict=True):
        for column in range(5):
            without = row.clone()
            without[column] = 0
            expected = max(0.0, matrix(row[None]).std() - matrix(without[None]).std())
            assert found[column] == pytest.approx(expected)


def test_the_patch_that_is_wrong_is_found():
    """Draws that differ in one corner alone disagree about what is there."""
    means = torch.zeros(4, 1, 16, 16, dtype=torch.float64)
    means[:, :, 12:, :4] = torch.arange(4.0)[:, None, None, None]
    picture = torch.rand(1, 16, 16, generator=torch.Generator().manual_seed(0))
    picture[:, 12:, :4] = 9.0
    [found] = occlusion(
        picture[None],
        spread(
            lambda x: torch.stack([-0.5 * (x - mean).square().flatten(1).sum(1) for mean in means]).numpy()
        ),
    )
    wrong = np.zeros((16, 16), bool)
    wrong[12:, :4] = True
    assert found[wrong].min() > found[~wrong].max()


def test_places_are_the_fewest_that_cover_a_picture():
    without, places = occluded(torch.zeros(3, 20, 5))
    assert without.shape == (40, 3, 20, 5)
    assert places.shape == (20, 5)
    assert sorted(set(places.ravel().tolist())) == list(range(40))
