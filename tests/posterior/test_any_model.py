"""Every posterior on models without an encoder, and chains that are fitted apart."""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from dissensus.errors import SettingsError
from dissensus.likelihood import log_likelihoods
from dissensus.models import GenerativeModel, build_vae
from dissensus.posterior import (
    POSTERIORS,
    SGHMC,
    Adam,
    GammaHyperprior,
    Rule,
    SamplingSettings,
    Variational,
    join_draws,
    posterior_settings,
    sample_posterior,
    step_work,
)


class LinearGaussian(GenerativeModel):
    """y = Wz + N(0, σ²) for rows (z, y) whose z is given: an exact likelihood, no noise and no inference."""

    def __init__(self, layer: nn.Module, regressors: int, outputs: int, scale: float = 0.5) -> None:
        super().__init__()
        self.layer, self.regressors, self.scale = layer, regressors, scale
        self.input_shape = (regressors + outputs,)

    def initialise_(self, generator: torch.Generator) -> None:
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.normal_(generator=generator).mul_(0.1)

    def objective(self, x: Tensor, noise: Tensor) -> Tensor:
        return self.log_likelihood(x, noise, ())[0]

    def log_likelihood(self, x, noise, inferred):
        z, y = x[:, : self.regressors], x[:, self.regressors :]
        residual = ((y - self.layer(z)) / self.scale).double()
        constant = y.shape[1] * (math.log(self.scale) + 0.5 * math.log(2 * math.pi))
        return -0.5 * residual.square().sum(1) - constant, torch.zeros(len(x), dtype=torch.float64)


class NoisyLatent(LinearGaussian):
    """In two parts, with a latent that is drawn from the prior: it has noise but no inference."""

    noise_size = 2

    def __init__(self, regressors: int, outputs: int) -> None:
        super().__init__(nn.Linear(regressors, outputs), regressors, outputs)
        self.loading = nn.Linear(self.noise_size, outputs, bias=False)

    def parts(self) -> dict[str, nn.Module]:
        return {"mean": self.layer, "loading": self.loading}

    def objective(self, x: Tensor, noise: Tensor) -> Tensor:
        shifted = x.clone()
        shifted[:, self.regressors :] = x[:, self.regressors :] - self.loading(noise)
        return super().log_likelihood(shifted, noise, ())[0]

    def log_likelihood(self, x, noise, inferred):
        each = torch.stack([self.objective(x, row.expand(len(x), -1)) for row in noise])
        return each.logsumexp(0) - math.log(len(noise)), each.std(0)


MODELS = {
    "exact": lambda: LinearGaussian(nn.Linear(2, 3), 2, 3),
    "noisy": lambda: NoisyLatent(2, 3),
}


@pytest.fixture
def rows():
    random = torch.Generator().manual_seed(0)
    z = torch.randn(120, 2, generator=random)
    y = z @ torch.randn(2, 3, generator=random) + 0.5 * torch.randn(120, 3, generator=random)
    return torch.cat([z, y], dim=1)


def assert_same(a, b):
    assert (a.chain.tolist(), a.epoch.tolist()) == (b.chain.tolist(), b.epoch.tolist())
    assert a.parts.keys() == b.parts.keys()
    for name, part in a.parts.items():
        assert part.of.tolist() == b.parts[name].of.tolist()
        for key, stack in part.stacks.items():
            assert torch.equal(stack, b.parts[name].stacks[key]), key


@pytest.mark.parametrize("variant", [1, 2])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", POSTERIORS)
def test_every_rule_moves_every_model(rows, name, model, variant, tmp_path):
    """Draws of all parts, whatever the variant: there is nothing that only infers."""
    own = MODELS[model]()
    settings = posterior_settings(name, epochs=6, draws=4, chains=2, variant=variant, batch_size=40)
    draws = sample_posterior(own, rows, settings, seed=0, held_out=rows[:30], checkpoint=tmp_path)
    assert len(draws) == settings.draws
    for part, module in own.parts().items():
        assert draws.parts[part].of.tolist() == list(range(len(draws)))
        shapes = {key: (len(draws), *p.shape) for key, p in module.named_parameters()}
        assert {key: tuple(stack.shape) for key, stack in draws.parts[part].stacks.items()} == shapes
    again = sample_posterior(own, rows, settings, seed=0, held_out=rows[:30], checkpoint=tmp_path)
    assert_same(draws, again)
    assert [set(r.health) for r in draws.diagnostics.reports[-2:]] == [
        set(own.parts()) if name in ("sghmc", "cyclical-sghmc", "sgld") else set()
    ] * 2
    assert np.isfinite(log_likelihoods(own, draws, rows[:5], samples=4).values).all()


def test_parts_that_leave_weights_out_are_refused(rows):
    class Careless(LinearGaussian):
        def parts(self):
            return {"weight": nn.ParameterList([self.layer.weight])}

    with pytest.raises(SettingsError, match=r"Careless.parts\(\) must give every trainable parameter once"):
        sample_posterior(Careless(nn.Linear(2, 3), 2, 3), rows, SamplingSettings.variant_2(epochs=1), seed=0)


def test_an_error_names_the_parts_as_the_model_does(rows):
    settings = SamplingSettings.variant_1(SGHMC(1e6), epochs=2, batch_size=20, restarts=0)
    with pytest.raises(Exception, match=r"step sizes: mean 1e\+06, loading 1e\+06"):
        sample_posterior(NoisyLatent(2, 3), rows, settings, seed=0)


NAMES = ("sghmc", "cyclical-sghmc", "sgld", "ensemble", "swag", "variational")


@pytest.fixture
def threads():
    """Lets a test set how many threads torch has."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def apart(model, data, settings, **rest):
    runs = [settings.with_(chains=1, first_chain=c) for c in settings.chain_numbers]
    return join_draws([sample_posterior(model, data, run, held_out=data[:4], **rest) for run in runs])


@pytest.mark.parametrize("variant", [1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_chains_of_rows_fitted_apart_are_those_fitted_together(vectors, vector_vae, name, variant):
    settings = posterior_settings(name, epochs=6, draws=4, chains=2, variant=variant, batch_size=40)
    together = sample_posterior(vector_vae, vectors, settings, seed=5, held_out=vectors[:4])
    assert_same(apart(vector_vae, vectors, settings, seed=5), together)


@pytest.fixture
def pictures():
    random = torch.Generator().manual_seed(0)
    return torch.randint(0, 256, (50, 1, 8, 8), generator=random, dtype=torch.uint8)


@pytest.fixture
def picture_vae():
    return build_vae((1, 8, 8), latent_size=3, widths=(8,), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("name", NAMES)
def test_chains_of_long_steps_depend_neither_on_others_nor_on_the_cores(
    pictures, picture_vae, name, threads, monkeypatch
):
    """Steps so long that a batch is divided: 25 rows, unevenly. By two cores they are in the next test."""
    monkeypatch.setattr(step_work, "LEAST_WORK", 0)
    monkeypatch.setattr(step_work, "LEAST_PICTURE_WORK", 0)
    settings = posterior_settings(name, epochs=4, draws=4, chains=2, batch_size=25)
    found = []
    for cores in (1, 3):
        threads(cores)
        found.append(sample_posterior(picture_vae, pictures, settings, seed=5, held_out=pictures[:4]))
        assert_same(apart(picture_vae, pictures, settings, seed=5), found[-1])
    assert_same(*found)


def test_a_chain_that_starts_again_beside_others_is_the_one_that_runs_alone(
    pictures, picture_vae, threads, monkeypatch
):
    """The catch-up runs a single chain, with its batches divided between the cores."""
    from dissensus.posterior import watching

    threads(2)
    monkeypatch.setattr(step_work, "LEAST_WORK", 0)
    settings = SamplingSettings.variant_1(SGHMC(0.02), epochs=4, burn_in=2, chains=2, batch_size=25)
    slow = sample_posterior(picture_vae, pictures, settings.slower(1), seed=5)
    honest = watching.what_diverged

    def what_diverged(chain, epoch, steps, start):
        away = chain.index == 1 and epoch == 3 and chain.settings.rule.step_size > 0.01
        return "ran away" if away else honest(chain, epoch, steps, start)

    monkeypatch.setattr(watching, "what_diverged", what_diverged)
    mixed = sample_posterior(picture_vae, pictures, settings, seed=5)
    assert [restart.chain for restart in mixed.diagnostics.restarts] == [1]
    own = [draws.select(np.flatnonzero(draws.chain == 1)) for draws in (mixed, slow)]
    assert_same(*own)
    alone = settings.with_(chains=1, first_chain=1)
    again = sample_posterior(picture_vae, pictures, alone, seed=5)
    assert [restart.chain for restart in again.diagnostics.restarts] == [1]
    assert_same(again, own[0])


class NoState(NamedTuple):
    """Nothing is carried from step to step."""


@dataclass(frozen=True)
class Langevin(Rule):
    """A rule that says no more than it must."""

    step_size: float

    def init(self, weights):
        return NoState()

    def step_(self, state, weights, gradient, noise, adapt):
        weights.sub_(gradient, alpha=self.step_size).add_(noise, alpha=(2 * self.step_size) ** 0.5)

    def slower(self):
        return replace(self, step_size=self.step_size / 2)

    @classmethod
    def on(cls, budget):
        return cls(budget.step_size)


def test_a_rule_of_one_s_own_finds_the_exact_posterior():
    """N(x̄-like mean, 1/A) of one weight, as above, by plain Langevin steps on the whole of the data."""
    random, sigma, prior = np.random.default_rng(0), 0.5, 3.0
    z = random.normal(size=(40, 1))
    y = z * random.normal(size=20) + sigma * random.normal(size=(40, 20))
    precision = float((z**2).sum() / sigma**2 + prior)
    settings = posterior_settings(Langevin(0.1 / precision), epochs=1500, draws=100, batch_size=40).with_(
        hyperprior=GammaHyperprior(prior * 1e8, 1e8)
    )
    model = LinearGaussian(nn.Linear(1, 20, bias=False), 1, 20, scale=sigma)
    data = torch.tensor(np.concatenate([z, y], axis=1), dtype=torch.float32)
    draws = sample_posterior(model, data, settings, seed=0)
    drawn = draws.parts["model"].stacks["layer.weight"][:, :, 0].double().numpy()
    away = (drawn - (z.T @ y / sigma**2 / precision)) * precision**0.5
    # Steps of h = 0.1/A on a quadratic have 1/(1 − hA/2) times the variance.
    assert away.mean() == pytest.approx(0, abs=0.15)
    assert away.var() == pytest.approx(1 / 0.95, rel=0.15)


class TwiceUsed(nn.Module):
    """y = W(z1 + z2) by one layer that is used twice: linear in W, so that its posterior is known."""

    def __init__(self, outputs):
        super().__init__()
        self.layer = nn.Linear(1, outputs, bias=False)

    def forward(self, z):
        return self.layer(z[:, :1]) + self.layer(z[:, 1:])


def test_a_variational_fit_of_a_layer_used_twice_is_the_exact_posterior():
    """One weight an output, so the exact posterior N(Σsy/σ²/A, 1/A), A = Σs²/σ² + λ, is a mean-field one.

    The regressors are correlated: noise of its own for each use would give nearly twice the variance.
    """
    random, sigma, prior, outputs = np.random.default_rng(0), 0.5, 3.0, 30
    z = random.normal(size=(240, 1)) + 0.2 * random.normal(size=(240, 2))
    s = z.sum(1)
    y = s[:, None] * random.normal(size=outputs) + sigma * random.normal(size=(240, outputs))
    settings = SamplingSettings.variant_1(
        Variational(Adam(learning_rate=1e-2)),
        epochs=300,
        burn_in=300,
        batch_size=60,
        hyperprior=GammaHyperprior(prior * 1e8, 1e8),
        fitted_draws=2000,
    )
    model = LinearGaussian(TwiceUsed(outputs), 2, outputs, scale=sigma)
    data = torch.tensor(np.concatenate([z, y], axis=1), dtype=torch.float32)
    draws = sample_posterior(model, data, settings, seed=0)
    drawn = draws.parts["model"].stacks["layer.layer.weight"][:, :, 0].double().numpy()
    precision = s @ s / sigma**2 + prior
    assert precision * drawn.var(0).mean() == pytest.approx(1, rel=0.2)
    assert np.abs(drawn.mean(0) - s @ y / sigma**2 / precision).max() < 1 / precision**0.5
