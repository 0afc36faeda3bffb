"""What a GPU measures of pictures is what the cores measure."""

import numpy as np
import pytest
import torch

from dissensus.inputs.in_torch import Picturing, measured_in_tiles
from dissensus.inputs.pictures import PicturePreprocessor, picture_surroundings

CPU = torch.device("cpu")


@pytest.fixture(params=[1, 3])
def pictures(request):
    random = np.random.default_rng(0)
    noise = random.integers(0, 60, (90, 12, 11, request.param))
    return (noise + np.linspace(0, 195, 11)[:, None]).astype(np.uint8)


@pytest.fixture
def preprocessor(pictures):
    near = picture_surroundings(pictures[:60], np.random.default_rng(1))
    return PicturePreprocessor(pictures.shape[1:], surroundings=near)


def in_tiles(preprocessor, pictures, wanted, device=CPU):
    return measured_in_tiles(Picturing(preprocessor, wanted), pictures, wanted, device)


def test_every_statistic_is_that_of_the_cores_to_rounding(preprocessor, pictures):
    wanted = set(preprocessor.statistic_names) - {"code-length"}
    expected = preprocessor.statistics(pictures, pictures, only=wanted)
    found = in_tiles(preprocessor, pictures, wanted)
    assert set(found) == wanted == set(expected)
    for name, values in found.items():
        np.testing.assert_allclose(values, expected[name], rtol=1e-9, atol=1e-9, err_msg=name)
    np.testing.assert_array_equal(found["predicted-length"], expected["predicted-length"])


def test_a_picture_gets_the_same_bits_alone_and_among_others(preprocessor, pictures):
    wanted = {"isolation", "detail-1", "predicted-length"}
    together = in_tiles(preprocessor, pictures, wanted)
    alone = in_tiles(preprocessor, pictures[7:8], wanted)
    assert {name: values[7] for name, values in together.items()} == {n: v[0] for n, v in alone.items()}


def test_only_what_is_wanted_is_measured(preprocessor, pictures):
    assert set(in_tiles(preprocessor, pictures[:2], {"detail-1"})) == {"detail-1"}


@pytest.mark.filterwarnings("error")
def test_pictures_may_be_none_or_read_only(preprocessor, pictures):
    none = in_tiles(preprocessor, pictures[:0], {"detail-1", "isolation"})
    assert {name: values.shape for name, values in none.items()} == {"detail-1": (0,), "isolation": (0,)}
    expected = in_tiles(preprocessor, pictures, {"detail-1"})
    pictures.flags.writeable = False
    np.testing.assert_array_equal(
        in_tiles(preprocessor, pictures, {"detail-1"})["detail-1"], expected["detail-1"]
    )


@pytest.mark.gpu
def test_a_gpu_measures_what_the_cores_do(preprocessor, pictures):
    wanted = {*preprocessor.statistic_names, "matrix"}
    expected = preprocessor.statistics(pictures, pictures)
    found = preprocessor.statistics_on(torch.device("cuda"), pictures, pictures, only=wanted)
    assert set(found) == set(expected)
    for name, values in found.items():
        np.testing.assert_allclose(values, expected[name], rtol=1e-9, atol=1e-9, err_msg=name)


def test_whatever_device_floats_are_measured_on_the_cores(preprocessor, pictures):
    floats = (pictures / 255).astype(np.float32)
    expected = preprocessor.statistics(floats, floats)
    found = preprocessor.statistics_on(torch.device("cuda"), floats, floats)
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values)
