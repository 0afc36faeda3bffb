"""Posteriors by name: the draws that were asked for, on the budget that was given."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import SettingsError
from dissensus.posterior import (
    POSTERIORS,
    SGHMC,
    SGLD,
    SWAG,
    Adam,
    CyclicalSGHMC,
    Variational,
    posterior_settings,
)

quickly = settings(derandomize=True, deadline=None)


@quickly
@given(
    st.sampled_from(sorted(POSTERIORS)),
    st.integers(2, 400),
    st.integers(1, 12),
    st.integers(1, 4),
    st.sampled_from([1, 2]),
)
def test_as_many_draws_as_were_asked_for_and_no_more_epochs(name, epochs, per_chain, chains, variant):
    draws = per_chain * chains
    try:
        made = posterior_settings(name, epochs=epochs, draws=draws, chains=chains, variant=variant)
    except SettingsError:
        assert per_chain > epochs or (name == "cyclical-sghmc" and per_chain + 1 > epochs)
        return
    assert made.draws == (chains if name == "ensemble" else draws)
    assert made.chains == chains
    assert epochs - per_chain < made.epochs <= epochs
    kept = [t for t in range(1, made.epochs + 1) if made.keeps(t)]
    assert len(kept) == made.kept_epochs
    if name != "variational":
        assert kept[-1] == made.epochs
    assert not any(made.adapts(t, 10) and t > made.burn_in for t in kept if name != "cyclical-sghmc")
    if name == "cyclical-sghmc":
        assert not any(made.adapts(t, 10) for t in kept)
        assert made.cycle == made.epochs or made.cycle >= 10


def test_rules():
    budget = {"epochs": 30, "draws": 20, "chains": 2, "step_size": 2e-2, "learning_rate": 3e-3}
    rules = {name: posterior_settings(name, variant=2, **budget).rule for name in POSTERIORS}
    assert rules["sghmc"] == SGHMC(2e-2)
    assert rules["sgld"] == SGLD(2e-2**2 / 0.05)
    assert rules["cyclical-sghmc"] == CyclicalSGHMC(15, 9, 2e-2)
    assert rules["ensemble"] == Adam(3e-3)
    assert rules["swag"] == SWAG(Adam(3e-3))
    assert rules["variational"] == Variational(Adam(3e-3))
    for name in POSTERIORS:
        first = posterior_settings(name, variant=1, **budget)
        assert first.inference == Adam(3e-3)
        assert first.rule == rules[name]


def test_the_rest_of_the_budget_arrives():
    for name in POSTERIORS:
        made = posterior_settings(name, epochs=30, draws=4, batch_size=64, temperature=0.5)
        assert (made.batch_size, made.temperature) == (64, 0.5)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"name": "sgd"}, "choose one of sghmc, cyclical-sghmc"),
        ({"variant": 3}, "variant"),
        ({"draws": 5}, "multiple of chains=2"),
        ({"draws": 0}, "multiple of chains=2"),
        ({"name": "cyclical-sghmc", "epochs": 10}, "run more epochs"),
        ({"name": "swag", "epochs": 1}, "2 epochs"),
    ],
)
def test_refused(wrong, named):
    arguments = {"name": "sghmc", "epochs": 30, "draws": 20, "chains": 2, **wrong}
    with pytest.raises(SettingsError, match=named):
        posterior_settings(arguments.pop("name"), **arguments)
