"""How many draws a run gives, and which settings are refused before it starts."""

import json

import numpy as np
import pytest

from dissensus.errors import SettingsError
from dissensus.posterior import SGHMC, Adam, SamplingSettings, sample_posterior


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
    assert all(len(stack[:]) == len(draws) for stack in draws.decoder.values())
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
    assert (first.decoder, first.encoder) == (sampler, optimiser)
    second = SamplingSettings.variant_2(sampler, epochs=3)
    assert (second.decoder, second.encoder) == (sampler, sampler)
    ensemble = SamplingSettings.ensemble(5, 7, optimiser)
    assert (ensemble.decoder, ensemble.encoder) == (optimiser, optimiser)
    assert ensemble.draws == ensemble.chains == 5
    assert [epoch for epoch in range(1, 8) if ensemble.keeps(epoch)] == [7]


def test_adaptation_is_the_burn_in_unless_told():
    settings = SamplingSettings.variant_1(epochs=10, burn_in=4)
    assert settings.adaptation_epochs == 4
    assert settings.with_(adaptation=0).adaptation_epochs == 0
    assert settings.with_(adaptation=9).adaptation_epochs == 9


def test_description_is_json_and_tells_rules_apart():
    first = SamplingSettings.variant_1(epochs=3).describe()
    second = SamplingSettings.variant_2(epochs=3).describe()
    assert json.loads(json.dumps(first))["encoder"]["rule"] == "Adam"
    assert first["decoder"] == second["decoder"]
    assert first["encoder"] != second["encoder"]
