"""What every posterior must do, checked on all of them by one class."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping

import numpy as np
import pytest
import torch
from torch import nn

from dissensus.likelihood import log_likelihoods
from dissensus.models import VAE, Gaussian, build_vae
from dissensus.posterior import (
    POSTERIORS,
    SamplingSettings,
    WeightDraws,
    posterior_settings,
    sample_posterior,
)

BUDGET = {"epochs": 6, "draws": 4, "chains": 2, "batch_size": 100}
CASES = [(name, variant) for name in POSTERIORS for variant in (1, 2)]


def flat(stacks: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """All stacks side by side (M, P)."""
    return torch.cat([stack[:].flatten(1) for stack in stacks.values()], dim=1)


def same(a: WeightDraws, b: WeightDraws) -> bool:
    """Whether two runs gave the same draws to the last bit."""
    pairs = [(a.parts[name], b.parts[name]) for name in a.parts]
    return (
        all(torch.equal(flat(x.stacks), flat(y.stacks)) for x, y in pairs if x.stacks or y.stacks)
        and all(np.array_equal(x.of, y.of) for x, y in pairs)
        and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("chain", "epoch"))
    )


@pytest.fixture(scope="module")
def data() -> torch.Tensor:
    """200 points near a plane in six dimensions."""
    random = torch.Generator().manual_seed(0)
    plane = torch.randn(2, 6, generator=random)
    return torch.randn(200, 2, generator=random) @ plane + 0.1 * torch.randn(200, 6, generator=random)


@pytest.fixture(scope="module")
def vae() -> VAE:
    random = torch.Generator().manual_seed(1)
    return build_vae((6,), latent_size=2, widths=(8,), observation=Gaussian(scale=0.5), generator=random)


@pytest.fixture(scope="module")
def untrained(vae, data) -> float:
    """The median log-likelihood of rows that weights hardly trained give."""
    draws = sample_posterior(vae, data[:150], SamplingSettings.ensemble(1, 1, batch_size=150), seed=0)
    return float(np.median(log_likelihoods(vae, draws, data[150:]).values))


@pytest.fixture(scope="module")
def made() -> dict[str, WeightDraws]:
    """Runs by their settings."""
    return {}


@pytest.mark.parametrize(("name", "variant"), CASES, ids=[f"{name}-{v}" for name, v in CASES])
class TestEveryPosterior:
    @pytest.fixture
    def settings(self, name: str, variant: int) -> SamplingSettings:
        return posterior_settings(name, variant=variant, **BUDGET)

    def run(self, vae: VAE, data: torch.Tensor, settings: SamplingSettings, **rest) -> WeightDraws:
        return sample_posterior(vae, data, settings, **{"seed": 0, "held_out": data[:40], **rest})

    @pytest.fixture
    def drawn(self, vae, data, settings, made) -> WeightDraws:
        """The run that several tests look at, made once."""
        key = json.dumps(settings.describe())
        if key not in made:
            made[key] = self.run(vae, data, settings)
        return made[key]

    def test_draws_have_the_promised_number_shapes_and_finite_values(self, vae, data, drawn, settings, name):
        draws = drawn
        expected = BUDGET["chains"] if name == "ensemble" else BUDGET["draws"]
        assert len(draws) == settings.draws == expected
        assert draws.chain.tolist() == sorted(draws.chain.tolist())
        assert set(draws.chain.tolist()) == {0, 1}
        assert (draws.epoch <= settings.epochs).all()
        encoders = len(draws) if settings.inference is None else 2
        for network, stacks, count in (
            (vae.decoder, draws.parts["decoder"].stacks, len(draws)),
            (vae.encoder, draws.parts["encoder"].stacks, encoders),
        ):
            shapes = {key: tuple(stack[:].shape) for key, stack in stacks.items()}
            assert shapes == {key: (count, *p.shape) for key, p in network.named_parameters()}
            assert torch.isfinite(flat(stacks)).all()
            assert len(torch.unique(flat(stacks), dim=0)) == count
        assert draws.parts["encoder"].of.tolist() == (
            list(range(len(draws))) if settings.inference is None else draws.chain.tolist()
        )
        values = log_likelihoods(vae, draws, data[:5], samples=4).values
        assert values.shape == (len(draws), 5)
        assert np.isfinite(values).all()

    def test_variants_treat_the_encoder_as_they_say(self, settings, variant):
        assert (settings.inference is None) == (variant == 2)

    def test_same_seed_same_bits_other_seed_other_draws(self, vae, data, settings, drawn):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(99)
            assert same(drawn, self.run(vae, data, settings))
        assert not (
            flat(drawn.parts["decoder"].stacks)
            == flat(self.run(vae, data, settings, seed=1).parts["decoder"].stacks)
        ).any()

    def test_more_chains_do_not_change_the_first_ones(self, vae, data, settings, drawn):
        one = self.run(vae, data, settings.with_(chains=1))
        assert same(one, drawn.select(np.flatnonzero(drawn.chain == 0)))

    def test_resumes_to_the_same_bits(self, vae, data, settings, drawn, tmp_path):
        whole = drawn
        for stop in (3, 5, 6):  # exploring or burning in, drawing, and after the last epoch

            def interrupt(reports, stop=stop):
                if reports[0].epoch == stop:
                    raise KeyboardInterrupt

            folder, seen = tmp_path / str(stop), []
            with pytest.raises(KeyboardInterrupt):
                self.run(vae, data, settings, checkpoint=folder, on_epoch=interrupt)
            resumed = self.run(vae, data, settings, checkpoint=folder, on_epoch=seen.append)
            assert len(seen) == settings.epochs - stop
            assert same(resumed, whole)
            bare = [
                [dataclasses.replace(report, seconds=0) for report in run.diagnostics.reports]
                for run in (whole, resumed)
            ]
            assert bare[0] == bare[1]
            assert resumed.diagnostics.tuned == whole.diagnostics.tuned

    def test_leaves_model_data_and_global_randomness_alone(self, vae, data, settings):
        weights = [p.clone() for p in vae.parameters()]
        rows, state = data.clone(), torch.random.get_rng_state()
        self.run(vae, data, settings)
        assert all(torch.equal(a, b) for a, b in zip(weights, vae.parameters(), strict=True))
        assert not any(layer._forward_hooks for layer in vae.modules())
        assert torch.equal(data, rows)
        assert torch.equal(state, torch.random.get_rng_state())

    def test_description_is_json_and_tells_posteriors_apart(self, settings, name, variant):
        described = json.loads(json.dumps(settings.describe()))
        others = {
            json.dumps(posterior_settings(other, variant=v, **BUDGET).describe())
            for other, v in CASES
            if other != name or v != variant
        }
        assert json.dumps(described) not in others

    def test_it_learns(self, vae, data, untrained, name, variant):
        """The draws explain held-out rows far better than untrained weights do."""
        settings = posterior_settings(
            name, variant=variant, epochs=60, draws=2, batch_size=20, step_size=2e-2, learning_rate=5e-3
        )
        draws = self.run(vae, data[:150], settings, held_out=data[150:])
        values = log_likelihoods(vae, draws, data[150:], samples=16).values
        # Two latents reach about −7 nats a row.
        assert np.median(values) > -12
        assert untrained < -15

    def test_networks_of_any_kind(self, data, settings):
        """An encoder without weights, a decoder with a weight that belongs to no known layer."""

        class Weightless(nn.Module):
            def forward(self, x):
                return x[:, :2], x.new_full((len(x), 2), -1.0)

        class Bias(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.bias = nn.Linear(2, 6, bias=False), nn.Parameter(torch.zeros(6))

            def forward(self, z):
                return self.layer(z) + self.bias

        own = VAE(Weightless(), Bias(), Gaussian(scale=0.5), (6,), 2)
        draws = self.run(own, data, settings)
        assert draws.parts["encoder"].stacks == {}
        assert torch.isfinite(flat(draws.parts["decoder"].stacks)).all()
        assert len(torch.unique(flat(draws.parts["decoder"].stacks), dim=0)) == len(draws)


def test_fitted_posteriors_differ_in_draws_not_in_their_fit(vae, data):
    """More draws of the same fit begin with the fewer."""
    for name in ("swag", "variational"):
        few, many = (
            sample_posterior(
                vae,
                data,
                posterior_settings(name, epochs=6, draws=draws, batch_size=50),
                seed=0,
                held_out=data[:30],
            )
            for draws in (2, 5)
        )
        assert torch.equal(flat(few.parts["decoder"].stacks), flat(many.parts["decoder"].stacks)[:2])
