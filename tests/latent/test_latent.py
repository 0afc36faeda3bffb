import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm

from dissensus.errors import DataError, SettingsError
from dissensus.latent import (
    aggregated_posterior,
    annulus,
    expected_disagreement,
    mixture_samples,
    shared_space,
)
from dissensus.likelihood import log_likelihoods
from dissensus.models import build_vae
from dissensus.posterior import SamplingSettings, sample_posterior
from dissensus.scores import effective_sample_size, ess_disagreement
from dissensus.seeding import stream_seed
from tests.contracts.models import random_draws


@pytest.fixture(scope="module")
def tiny():
    """A VAE of five-dimensional binary vectors with six decoder draws of one chain."""
    vae = build_vae((5,), latent_size=2, widths=(8,), generator=torch.Generator().manual_seed(0))
    data = (torch.rand(96, 5, generator=torch.Generator().manual_seed(1)) < 0.4).float()
    draws = sample_posterior(
        vae, data, SamplingSettings.variant_1(epochs=8, burn_in=3, batch_size=32), seed=2
    )
    return vae, draws


class TestAnnulus:
    def test_is_zero_on_the_sphere_of_radius_root_d_minus_one(self):
        direction = np.random.default_rng(0).normal(size=(20, 10))
        on_it = 3.0 * direction / np.linalg.norm(direction, axis=1, keepdims=True)
        assert annulus(on_it) == pytest.approx(np.zeros(20), abs=1e-12)
        assert annulus(2 * on_it) == pytest.approx(np.full(20, 3.0))
        assert annulus(np.zeros((1, 10))) == pytest.approx([3.0])

    @pytest.mark.parametrize("z", [np.zeros(3), np.zeros((2, 0)), [[0.0, np.nan]]])
    def test_refuses_what_are_no_points(self, z):
        with pytest.raises(DataError, match="z"):
            annulus(z)


class TestAggregatedPosterior:
    @settings(derandomize=True, deadline=None, max_examples=25)
    @given(st.integers(1, 4), st.integers(1, 12), st.integers(0, 10_000))
    def test_with_all_neighbours_it_is_the_full_mixture(self, dimensions, components, seed):
        random = np.random.default_rng(seed)
        z = random.normal(size=(7, dimensions)) * 3
        means, log_stds = random.normal(size=(2, components, dimensions))
        densities = [
            multivariate_normal(mean, np.diag(np.exp(2 * log_std))).logpdf(z)
            for mean, log_std in zip(means, log_stds, strict=True)
        ]
        expected = -np.logaddexp.reduce(np.array(densities).reshape(components, 7), axis=0) + math.log(
            components
        )
        found = aggregated_posterior(z, means, log_stds, neighbours=components)
        np.testing.assert_allclose(found, expected, rtol=1e-9)

    def test_fewer_neighbours_keep_the_nearest(self):
        means = np.array([[0.0], [10.0], [20.0]])
        found = aggregated_posterior([[9.0]], means, np.zeros((3, 1)), neighbours=1)
        assert found == pytest.approx([-norm(10, 1).logpdf(9.0) + math.log(3)])

    def test_far_away_it_stays_finite_and_grows(self):
        far = aggregated_posterior([[1e3], [1e4]], [[0.0]], [[-5.0]], neighbours=1)
        assert far.isfinite().all()
        assert far[1] > far[0]

    def test_more_points_than_a_block(self):
        z = np.random.default_rng(0).normal(size=(1100, 2))
        means = np.random.default_rng(1).normal(size=(30, 2))
        whole = aggregated_posterior(z, means, np.zeros_like(means), neighbours=5)
        alone = [
            aggregated_posterior(z[[row]], means, np.zeros_like(means), neighbours=5)[0]
            for row in (0, 600, 1099)
        ]
        np.testing.assert_allclose(whole[[0, 600, 1099]], alone)

    def test_refuses_what_does_not_fit(self):
        with pytest.raises(SettingsError, match="neighbours"):
            aggregated_posterior([[0.0]], [[0.0]], [[0.0]], neighbours=2)
        with pytest.raises(DataError, match="belong together"):
            aggregated_posterior([[0.0, 0.0]], [[0.0]], [[0.0]], neighbours=1)


class TestMixtureSamples:
    def test_mean_is_that_of_the_mixture(self, tiny):
        vae, draws = tiny
        z = torch.tensor([[0.5, -1.0], [3.0, 2.0]])
        samples = mixture_samples(vae, draws, z, inputs=8000, seed=3)
        assert samples.shape == (2, 8000, 5)
        means = []
        for draw in range(len(draws)):
            weights = draws.weights("decoder", draw)
            parameters = torch.func.functional_call(vae.decoder, weights, (z,)).reshape(2, 1, 5)
            means.append(vae.observation.mean(parameters))
        expected = torch.stack(means).mean(0)
        # Five standard errors of a mean of 8,000 coin flips.
        assert (samples.mean(1) - expected).abs().max() < 5 * 0.5 / math.sqrt(8000)

    def test_same_seed_same_samples(self, tiny):
        vae, draws = tiny
        z = torch.randn(3, 2, generator=torch.Generator().manual_seed(0))
        first, again, other = (mixture_samples(vae, draws, z, inputs=4, seed=seed) for seed in (1, 1, 2))
        assert torch.equal(first, again)
        assert not torch.equal(first, other)

    def test_refuses_points_of_another_space(self, tiny):
        vae, draws = tiny
        with pytest.raises(DataError, match="z"):
            mixture_samples(vae, draws, torch.zeros(1, 3))
        with pytest.raises(SettingsError, match="inputs"):
            mixture_samples(vae, draws, torch.zeros(1, 2), inputs=0)


@pytest.mark.parametrize("ask", [mixture_samples, expected_disagreement])
class TestRefuses:
    def test_draws_of_several_chains(self, tiny, ask):
        vae = tiny[0]
        two = random_draws(vae, count=4, chains=2)
        with pytest.raises(
            SettingsError, match=r"chains 0, 1, .* draws.select\(shared_space\(model, draws\)"
        ):
            ask(vae, two, torch.zeros(0, 2))
        one = two.select(shared_space(vae, two).draws)
        assert len(ask(vae, one, torch.zeros(1, 2), inputs=1)) == 1

    def test_but_not_those_that_share_an_encoder(self, tiny, ask):
        vae = tiny[0]
        shared = random_draws(vae, count=4, chains=2)
        shared.parts["encoder"].of[:] = 0
        assert len(ask(vae, shared, torch.zeros(1, 2), inputs=1)) == 1

    @pytest.mark.parametrize(
        ("z", "words"),
        [
            (torch.zeros(1, 3), "has 2 dimensions"),
            (torch.zeros(2), r"must be of shape \(points, 2\)"),
            (torch.tensor([[0.0, 0.0], [0.0, math.nan]]), "row 1 is not finite"),
        ],
    )
    def test_points_that_are_none(self, tiny, ask, z, words):
        with pytest.raises(DataError, match=words):
            ask(*tiny, z)


class TestExpectedDisagreement:
    @pytest.mark.parametrize("score", [ess_disagreement, lambda matrix: -effective_sample_size(matrix)])
    def test_is_the_mean_over_decoded_inputs(self, tiny, score):
        vae, draws = tiny
        z = torch.randn(5, 2, generator=torch.Generator().manual_seed(4)) * 10
        found = expected_disagreement(vae, draws, z, inputs=3, samples=4, score=score, seed=7, block=2)
        expected = []
        for start in (0, 2, 4):
            seed = stream_seed(7, "block", start)
            for decoded in mixture_samples(vae, draws, z[start : start + 2], inputs=3, seed=seed):
                each = [
                    score(log_likelihoods(vae, draws, x[None], samples=4, seed=7).values)[0] for x in decoded
                ]
                expected.append(np.mean(each))
        np.testing.assert_allclose(found, expected, rtol=1e-5)

    def test_several_scores_are_made_of_the_same_inputs(self, tiny):
        vae, draws = tiny
        z = torch.randn(5, 2, generator=torch.Generator().manual_seed(4)) * 10
        scores = (ess_disagreement, lambda matrix: -effective_sample_size(matrix))

        def ask(score, points=z):
            return expected_disagreement(vae, draws, points, inputs=3, samples=4, score=score, block=2)

        both = ask(lambda matrix: np.stack([score(matrix) for score in scores]))
        np.testing.assert_array_equal(both, [ask(score) for score in scores])
        assert ask(ess_disagreement, z[:0]).shape == (0,)

    def test_blocks_are_told_of(self, tiny):
        vae, draws = tiny
        finished = []
        expected_disagreement(
            vae, draws, torch.zeros(5, 2), inputs=1, samples=1, block=2, on_block=finished.append
        )
        assert finished == [2, 2, 1]
