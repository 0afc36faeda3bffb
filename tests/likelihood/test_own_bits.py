"""Models whose bits depend on an input's place are found out, and detectors with them score alike.

That inputs keep their bits is swept over shapes, sizes and threads in tests/contracts/test_same_bits.py.
"""

import numpy as np
import pytest
import torch

from dissensus import BayesianVAE
from dissensus.likelihood import keeps_bits
from dissensus.models import VAE, Gaussian, build_vae
from dissensus.posterior import PartDraws, WeightDraws

pytestmark = pytest.mark.usefixtures("whole_self_test")

QUICK = {"epochs": 3, "draws": 4, "samples": 4, "false_alarm_rate": 0.2, "device": "cpu"}


def draws_of(vae):
    two = np.arange(2)
    parts = {
        part: PartDraws(
            {n: torch.stack([p.detach(), 1.1 * p.detach()]) for n, p in m.named_parameters()}, two
        )
        for part, m in vae.parts().items()
    }
    return WeightDraws(parts, two, two + 1)


class Placed(VAE):
    """A row's place is added to its bits on purpose, whatever the machine."""

    def encode(self, x):
        mean, log_std = super().encode(x)
        return mean * (1 + 1e-6 * torch.arange(len(mean))[:, None]), log_std


@pytest.mark.parametrize("kind", [VAE, Placed])
def test_a_model_that_mixes_places_is_found_out(kind):
    vae = build_vae((4,), widths=(16,), observation="gaussian", generator=torch.Generator().manual_seed(0))
    vae.__class__ = kind
    x = torch.randn(30, 4, generator=torch.Generator().manual_seed(1))
    assert keeps_bits(vae, draws_of(vae), x, samples=4) is (kind is VAE)


class Rarely(VAE):
    """The last place of a tile is another, but not for all inputs."""

    def encode(self, x):
        mean, log_std = super().encode(x)
        mean[-1] *= 1 + 1e-6 * (x[-1, 0] > 1)
        return mean, log_std


class UnderOneDraw(VAE):
    """The last place of a tile is another, but under the first draw alone, whose weights are smaller."""

    def encode(self, x):
        mean, log_std = super().encode(x)
        mean[-1] *= 1 + 1e-6 * (self.encoder_size() < 1.05 * self.first)
        return mean, log_std

    def encoder_size(self):
        return sum(p.abs().sum() for p in self.encoder.parameters())


class OneSample(VAE):
    """The last sample of a tile's last input is another: with most inputs it has next to no weight."""

    def log_prob(self, x, z):
        found = super().log_prob(x, z)
        found[-1] += 1e-9
        return found


@pytest.mark.parametrize("kind", [VAE, Rarely, UnderOneDraw, OneSample])
@pytest.mark.parametrize("seed", range(3))
def test_a_model_that_seldom_mixes_places_is_found_out(kind, seed):
    random = torch.Generator().manual_seed(seed)
    vae = build_vae((4,), widths=(16,), observation=Gaussian(scale=0.005), generator=random)
    vae.__class__ = kind
    vae.first = sum(p.detach().abs().sum() for p in vae.encoder.parameters())
    x = torch.randn(64, 4, generator=random)
    assert keeps_bits(vae, draws_of(vae), x, samples=64) is (kind is VAE)


@pytest.mark.parametrize("widths", [(7,), (33,)])
def test_a_detector_with_odd_widths_scores_a_row_alike_alone_and_in_company(widths, tmp_path):
    rows = np.random.default_rng(0).normal(size=(200, 9))
    gate = BayesianVAE(widths=widths, statistic="ess", **QUICK).fit(rows)
    scores = gate.score_samples(rows)
    alone = np.concatenate([gate.score_samples(rows[n : n + 1]) for n in range(30)])
    np.testing.assert_array_equal(alone, scores[:30])
    np.testing.assert_array_equal(gate.score_samples(rows[::-1]), scores[::-1])
    gate.save(tmp_path / "gate")
    again = BayesianVAE.load(tmp_path / "gate", device="cpu")
    assert again.one_a_call_ is gate.one_a_call_
    np.testing.assert_array_equal(again.score_samples(rows[5:9]), scores[5:9])


def test_without_examples_a_loaded_detector_is_tried_with_made_up_inputs(tmp_path):
    rows = np.random.default_rng(0).normal(size=(60, 5))
    pictures = np.random.default_rng(0).integers(0, 256, (60, 9, 11), dtype=np.uint8)
    for inputs in (rows, pictures):
        gate = BayesianVAE(examples=0, **QUICK).fit(inputs)
        gate.save(tmp_path / "gate")
        again = BayesianVAE.load(tmp_path / "gate", device="cpu")
        np.testing.assert_array_equal(again.score_samples(inputs), gate.score_samples(inputs))
