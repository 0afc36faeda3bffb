"""Draws that are evaluated several at once: a draw's bits do not depend on its place among the others."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from dissensus.likelihood import keeps_bits, log_likelihoods
from dissensus.models import GenerativeModel
from dissensus.posterior import PartDraws, WeightDraws

pytestmark = pytest.mark.usefixtures("whole_self_test")


class Normal(GenerativeModel):
    """Independent normal numbers with means of their own."""

    draws_at_once = 4

    def __init__(self, size=5):
        super().__init__()
        self.input_shape = (size,)
        self.mean = nn.Parameter(torch.zeros(size))

    def initialise_(self, generator):
        with torch.no_grad():
            self.mean.copy_(torch.randn(self.mean.shape, generator=generator))

    def weights(self):
        return self.mean

    def objective(self, x, noise):
        return self.log_likelihood(x, noise, ())[0]

    def log_likelihood(self, x, noise, inferred):
        log_p = (-0.5 * ((x - self.weights()).square() + math.log(2 * math.pi))).double().sum(1)
        return log_p, torch.zeros_like(log_p)


class AddPlace(torch.autograd.Function):
    """Adds to the weights of a draw, when several are evaluated at once, a little of its place among them."""

    @staticmethod
    def forward(weights):
        return weights.clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def vmap(info, in_dims, weights):
        assert in_dims == (0,)
        return weights * (1 + 1e-6 * torch.arange(info.batch_size)[:, None]), 0


class Placed(Normal):
    """A draw's place changes its bits on purpose, whatever the machine."""

    def weights(self):
        return AddPlace.apply(self.mean)


X = torch.randn(70, 5, generator=torch.Generator().manual_seed(0))
SEVERAL = np.arange(9)
DRAWS = WeightDraws(
    {"model": PartDraws({"mean": torch.randn(9, 5, generator=torch.Generator().manual_seed(1))}, SEVERAL)},
    SEVERAL,
    SEVERAL + 1,
)


def matrix(model, draws, **settings):
    return log_likelihoods(model, draws, X, **settings).values


@pytest.mark.parametrize("kind", [Normal, Placed])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_model_that_mixes_draws_places_is_found_out(kind, threads, use_threads):
    use_threads(threads)
    assert keeps_bits(kind(), DRAWS, X, samples=1) is (kind is Normal)


def test_one_a_call_takes_one_draw_at_a_time():
    model = Placed()
    whole = matrix(model, DRAWS, one_a_call=True)
    np.testing.assert_array_equal(whole, matrix(Normal(), DRAWS, one_a_call=True))
    for some in ([0], [4, 1], [8, 7, 6, 5, 4, 3, 2, 1, 0]):
        part = matrix(model, DRAWS.select(np.array(some)), one_a_call=True)
        np.testing.assert_array_equal(part, whole[some])


@pytest.mark.parametrize("threads", [2, 3, 4, 7])
def test_groups_of_draws_are_the_same_on_any_number_of_threads(threads, use_threads):
    model = Placed()
    use_threads(1)
    whole = matrix(model, DRAWS)
    use_threads(threads)
    np.testing.assert_array_equal(matrix(model, DRAWS), whole)
