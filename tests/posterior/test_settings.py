"""How many draws a run gives, and which settings are refused before it starts."""

import json

import numpy as np
import pytest

from dissensus.errors import SettingsError
from dissensus.posterior import (
    SGHMC,
    SWAG,
    Adam,
    CyclicalSGHMC,
    GammaHyperprior,
    SamplingSettings,
    Variational,
    sample_posterior,
)


@pytest.mark.parametrize(
    ("epochs", "burn_in", "thinning", "chains"),
    [(1, 1, 1, 1), (5, 1, 1, 2), (6, 2, 2, 1), (7, 2, 2, 3), (7, 3, 5, 2), (4, 4, 1, 2), (8, 3, 2, 1)],
)
def test_draws_are_what_the_sampler_returns(vectors, vector_vae, epochs, burn_in, thinning, chains):
    settings = SamplingSettings.variant_1(
        epochs=epochs, burn_in=burn_in, thinning=thinning, chains=chains, batch_size=100
    )
    per_chain = (epochs - burn_in) // thinning + 1
    draws = sample_posterior(vector_vae, vectors, settings, seed=0)
    assert settings.draws == len(draws) == chains * per_chain
    assert all(len(stack[:]) == len(draws) for stack in draws.parts["decoder"].stacks.values())
    assert np.array_equal(draws.chain, np.repeat(np.arange(chains), per_chain))
    assert np.array_equal(draws.epoch, np.tile(burn_in + thinning * np.arange(per_chain), chains))
    assert draws.epoch.max() <= epochs


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"epochs": 0}, "epochs"),
        ({"epochs": 2.0}, "epochs"),
        ({"burn_in": 0}, "burn_in"),
        ({"burn_in": 11}, "burn_in=11 .* epochs=10"),
        ({"thinning": 0}, "thinning"),
        ({"chains": 0}, "chains"),
        ({"batch_size": -1}, "batch_size"),
        ({"batch_size": "256"}, "batch_size"),
        ({"temperature": 0.0}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"adaptation": -1}, "adaptation"),
        ({"adaptation_steps": -1}, "adaptation_steps"),
        ({"adaptation_steps": 1.5}, "adaptation_steps"),
        ({"adaptation": 1, "adaptation_steps": 10}, "give one of them"),
    ],
)
def test_refused(wrong, named):
    with pytest.raises(SettingsError, match=named):
        SamplingSettings.variant_1(**{"epochs": 10, **wrong})


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan")])
def test_refused_learning_rate(rate):
    with pytest.raises(SettingsError, match="learning_rate"):
        Adam(learning_rate=rate)


def test_variants():
    sampler, optimiser = SGHMC(step_size=0.003), Adam(learning_rate=0.002)
    first = SamplingSettings.variant_1(sampler, optimiser, epochs=3)
    assert (first.rule, first.inference) == (sampler, optimiser)
    second = SamplingSettings.variant_2(sampler, epochs=3)
    assert (second.rule, second.inference) == (sampler, None)
    ensemble = SamplingSettings.ensemble(5, 7, optimiser)
    assert (ensemble.rule, ensemble.inference) == (optimiser, optimiser)
    assert ensemble.draws == ensemble.chains == 5
    assert [epoch for epoch in range(1, 8) if ensemble.keeps(epoch)] == [7]


def test_adaptation_is_the_burn_in_unless_told():
    settings = SamplingSettings.variant_1(epochs=10, burn_in=4)
    assert settings.adaptation_epochs(10) == 4
    assert settings.with_(adaptation=0).adaptation_epochs(10) == 0
    assert settings.with_(adaptation=9).adaptation_epochs(10) == 9


@pytest.mark.parametrize(("asked", "epochs"), [(0, 0), (1, 1), (226, 1), (227, 2), (3_000, 14)])
def test_adaptation_in_steps_ends_with_the_epoch_that_has_enough_whatever_the_burn_in(asked, epochs):
    for burn_in in (1, 15):
        settings = SamplingSettings.variant_1(epochs=20, burn_in=burn_in, adaptation_steps=asked)
        assert [t for t in range(1, 21) if settings.adapts(t, 226)] == list(range(1, epochs + 1))


def test_settings_that_were_always_there_are_described_as_always():
    """Records and gates are found again by what describes them."""
    before = SamplingSettings.variant_2(epochs=3)
    assert before.describe()["hyperprior"] == {"shape": 1.0, "rate": 1.0}
    assert "adaptation_steps" not in before.describe()
    other = before.with_(adaptation_steps=3_000, hyperprior=GammaHyperprior(2.0, 1.0, per_part=True))
    assert SamplingSettings.from_description(json.loads(json.dumps(other.describe()))) == other


def test_description_is_json_and_tells_rules_apart():
    first = SamplingSettings.variant_1(epochs=3).describe()
    second = SamplingSettings.variant_2(epochs=3).describe()
    assert json.loads(json.dumps(first))["inference"]["name"] == "Adam"
    assert first["rule"] == second["rule"]
    assert second["inference"] is None


def test_cycles_burn_in_adapt_and_keep_each_for_themselves():
    settings = SamplingSettings.variant_2(CyclicalSGHMC(6, 3), epochs=18, burn_in=4, thinning=2)
    epochs = range(1, 19)
    assert [t for t in epochs if settings.keeps(t)] == [4, 6, 10, 12, 16, 18]
    assert [t for t in epochs if settings.adapts(t, 10)] == [1, 2, 3, 7, 8, 9, 13, 14, 15]
    assert settings.draws == 6
    assert [t for t in epochs if settings.with_(adaptation=1).adapts(t, 10)] == [1, 7, 13]


def test_fitted_posteriors_give_the_draws_that_were_asked_for():
    swag = SamplingSettings.variant_1(SWAG(), epochs=10, burn_in=6, thinning=2, chains=3, fitted_draws=7)
    assert swag.draws == 21
    assert [t for t in range(1, 11) if swag.keeps(t)] == [6, 8, 10]
    fit = SamplingSettings.variant_2(Variational(), epochs=10, burn_in=10, fitted_draws=4)
    assert fit.draws == 4
    assert not any(fit.keeps(t) for t in range(1, 11))
    assert "fitted_draws" in fit.describe()
    assert "fitted_draws" not in SamplingSettings.variant_1(epochs=3).describe()


CYCLES = CyclicalSGHMC(5, 3)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"rule": CYCLES, "burn_in": 4, "epochs": 11}, "multiple of cycle=5"),
        ({"rule": CYCLES, "burn_in": 3}, "burn_in=3 .* epochs 4 to 5"),
        ({"rule": CYCLES, "burn_in": 6}, "burn_in=6 .* epochs 4 to 5"),
        ({"rule": SWAG(), "inference": SGHMC(), "fitted_draws": 2}, "inference=SGHMC .* None to draw"),
        ({"rule": SGHMC(), "inference": Variational()}, "inference=Variational"),
        ({"rule": SGHMC(), "first_chain": -1}, "first_chain must be"),
        ({"rule": SWAG()}, "fitted_draws must be"),
        ({"rule": Variational(), "fitted_draws": 0}, "fitted_draws must be"),
        ({"rule": SGHMC(), "fitted_draws": 3}, "fitted_draws=3 is for"),
        ({"rule": SWAG(), "fitted_draws": 3, "burn_in": 10}, "at least 2 iterates"),
    ],
)
def test_rules_that_do_not_go_together_are_refused(wrong, named):
    with pytest.raises(SettingsError, match=named):
        SamplingSettings(**{"inference": Adam(), "epochs": 10, **wrong})


@pytest.mark.parametrize("rows", [None, 0])
def test_swag_without_held_out_rows_is_refused_before_work_starts(vectors, vector_vae, rows):
    settings = SamplingSettings.variant_1(SWAG(), epochs=10**6, fitted_draws=2)
    held_out = None if rows is None else vectors[:rows]
    with pytest.raises(SettingsError, match="held_out"):
        sample_posterior(vector_vae, vectors, settings, seed=0, held_out=held_out)
    fixed = SamplingSettings.variant_1(SWAG(scale=0.5), epochs=3, fitted_draws=2)
    assert len(sample_posterior(vector_vae, vectors, fixed, seed=0, held_out=held_out)) == 2
