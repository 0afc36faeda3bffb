"""The matrix on a GPU: the CPU's numbers for every model, own bits for an input, memory bounded by a tile."""

import numpy as np
import pytest
import torch

from dissensus.likelihood import input_statistics, keeps_bits, log_likelihoods
from dissensus.models import build_vae
from dissensus.models.vae.half_precision import TOLERANCE
from tests.contracts.models import random_draws
from tests.contracts.test_models import MODELS

pytestmark = pytest.mark.gpu
GPU = "cuda"


@pytest.fixture(params=MODELS, ids=list(MODELS))
def case(request):
    make, inputs = MODELS[request.param]
    model = make()
    model.initialise_(torch.Generator().manual_seed(3))
    return model, random_draws(model), inputs


def assert_close(model, found, expected):
    """Within what half precision may cost of pictures, and within rounding of anything else."""
    if len(model.input_shape) == 3:
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=TOLERANCE)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3)


def test_it_says_what_the_cpu_says(case):
    model, draws, x = case
    expected, found = (log_likelihoods(model, draws, x, samples=4, device=where) for where in ("cpu", GPU))
    assert_close(model, found.values, expected.values)
    np.testing.assert_allclose(found.errors, expected.errors, rtol=0.1, atol=TOLERANCE)
    if len(model.input_shape) == 3 and GPU == "cuda":
        assert (found.values != expected.values).mean() > 0.9  # another way indeed


def test_statistics_are_the_cpu_s(case):
    model, draws, x = case
    expected, found = (input_statistics(model, draws, x, device=where) for where in ("cpu", GPU))
    assert list(found) == list(expected)
    for name in found:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-3, atol=1e-3, err_msg=name)


@pytest.mark.usefixtures("whole_self_test")
def test_an_input_has_bits_of_its_own(case):
    """Alone, in any order and after a break; where a place changes bits the self-test says so."""
    model, draws, x = case
    settled = {"samples": 4, "device": GPU}
    one_a_call = not keeps_bits(model, draws, x, **settled)
    whole = log_likelihoods(model, draws, x, one_a_call=one_a_call, **settled).values
    for some in ([0], [5], [9, 3, 7], list(range(len(x)))[::-1]):
        part = log_likelihoods(model, draws, x[some], one_a_call=one_a_call, **settled).values
        np.testing.assert_array_equal(part, whole[:, some])


def test_an_interrupted_matrix_goes_on_to_the_same_bits(case, tmp_path):
    model, draws, x = case
    whole = log_likelihoods(model, draws, x, samples=4, device=GPU).values

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        log_likelihoods(model, draws, x, samples=4, device=GPU, checkpoint=tmp_path, on_tile=interrupt)
    again = log_likelihoods(model, draws, x, samples=4, device=GPU, checkpoint=tmp_path)
    np.testing.assert_array_equal(again.values, whole)


@pytest.mark.parametrize("name", ["VAE of pictures", "VAE of rows"])
def test_pooled_proposals_are_the_cpu_s(name):
    make, x = MODELS[name]
    model = make()
    draws = random_draws(model)
    expected, found = (
        log_likelihoods(model, draws, x, samples=4, device=where, proposal="pooled").values
        for where in ("cpu", GPU)
    )
    assert_close(model, found, expected)


def test_memory_is_bounded_by_a_tile():
    vae = build_vae((1, 28, 28), widths=(8, 16), generator=torch.Generator().manual_seed(0))
    draws, samples = random_draws(vae, count=3), 16
    tile = vae.tile(torch.device(GPU), samples)

    def peak(tiles):
        x = torch.zeros(tiles * tile, 1, 28, 28, dtype=torch.uint8)
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        log_likelihoods(vae, draws, x, samples=samples, device=GPU)
        return torch.cuda.max_memory_allocated() - before

    peak(1)  # what libraries allocate in their first calls
    few, many = peak(2), peak(8)
    assert few > 2**20
    assert many <= 1.1 * few  # the rest is encodings and answers
