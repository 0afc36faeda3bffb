"""A detector draws from the posterior that it is told to, and says so when it is saved."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone

from dissensus import BayesianVAE, SamplingSettings
from dissensus.errors import SettingsError
from dissensus.posterior import POSTERIORS, SGHMC, SWAG, Adam, CyclicalSGHMC

SETTINGS = {
    "epochs": 6,
    "draws": 2,
    "chains": 2,
    "samples": 4,
    "widths": (4,),
    "latent_size": 2,
    "batch_size": 16,
    "false_alarm_rate": 0.2,
    "statistic": "std",
    "device": "cpu",
}


def gate_of(posterior, **changes):
    return BayesianVAE(**{**SETTINGS, "posterior": posterior, **changes})


def weights(gate):
    return {
        (part, name): stack for part, own in gate.draws_.parts.items() for name, stack in own.stacks.items()
    }


@pytest.mark.parametrize("variant", [1, 2])
@pytest.mark.parametrize("name", POSTERIORS)
def test_every_posterior_fits_saves_and_loads(name, variant, rows, tmp_path):
    gate = gate_of(name, variant=variant).fit(rows)
    assert len(gate.draws_) == 2
    scores = gate.score_samples(rows[:9])
    assert np.isfinite(scores).all()
    gate.save(tmp_path / "gate")
    again = BayesianVAE.load(tmp_path / "gate", device="cpu")
    assert again.posterior == name
    assert np.array_equal(again.score_samples(rows[:9]), scores)
    saved = json.loads((tmp_path / "gate" / "config.json").read_text())
    assert saved["detector"]["settings"]["posterior"] == name
    assert f"| posterior | {name} |" in (tmp_path / "gate" / "README.md").read_text()
    assert again.draws_.diagnostics == gate.draws_.diagnostics


def test_posteriors_differ_and_the_default_is_sghmc(rows):
    found = {name: weights(gate_of(name).fit(rows)) for name in POSTERIORS}
    default = weights(BayesianVAE(**SETTINGS).fit(rows))
    assert all(np.array_equal(stack, found["sghmc"][key]) for key, stack in default.items())
    for name in set(POSTERIORS) - {"sghmc"}:
        assert any(not np.array_equal(stack, default[key]) for key, stack in found[name].items()), name


OBJECTS = {
    "a rule": SWAG(rank=5),
    "a rule with rules of its own": SWAG(Adam(2e-3, decay=(0.8, 0.99)), scale=0.5),
    "settings": SamplingSettings.variant_2(SGHMC(5e-3), epochs=3, burn_in=3, chains=2, batch_size=16),
}


@pytest.mark.parametrize("posterior", OBJECTS.values(), ids=OBJECTS)
def test_objects_fit_save_load_and_are_cloned(posterior, rows, tmp_path):
    gate = gate_of(posterior).fit(rows)
    gate.save(tmp_path / "gate")
    again = BayesianVAE.load(tmp_path / "gate", device="cpu")
    assert again.posterior == posterior
    assert np.array_equal(again.score_samples(rows[:5]), gate.score_samples(rows[:5]))
    refitted = clone(gate).fit(rows)
    assert all(np.array_equal(stack, weights(gate)[key]) for key, stack in weights(refitted).items())


def test_a_rule_by_name_and_as_an_object_with_the_same_settings_are_one(rows):
    named, given = gate_of("sghmc", step_size=5e-3).fit(rows), gate_of(SGHMC(5e-3)).fit(rows)
    assert all(np.array_equal(stack, weights(given)[key]) for key, stack in weights(named).items())


@dataclass(frozen=True)
class Own(SGHMC):
    """A rule that is not of the package."""


def test_a_rule_of_one_s_own_scores_after_loading_and_asks_for_itself_to_be_fitted_again(rows, tmp_path):
    gate = gate_of(Own()).fit(rows)
    gate.save(tmp_path / "gate")
    again = BayesianVAE.load(tmp_path / "gate", device="cpu")
    assert np.array_equal(again.score_samples(rows[:5]), gate.score_samples(rows[:5]))
    with pytest.raises(SettingsError, match=r"fitted with Own\(.*set posterior= to it"):
        again.fit(rows)
    again.save(tmp_path / "copy")
    assert BayesianVAE.load(tmp_path / "copy", device="cpu").posterior == again.posterior
    again.set_params(posterior=Own()).fit(rows)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"posterior": "sgd"}, "posterior='sgd' is not known: choose one of auto, sghmc"),
        ({"posterior": None}, "posterior=None is no posterior: give one of auto, sghmc"),
        (
            {"posterior": "ensemble", "draws": 4},
            "1 draw a chain, 2 in all, not draws=4: set draws=2, or cha",
        ),
        ({"posterior": "ensemble", "draws": 20, "epochs": None}, "set draws=2, or chains=20"),
        ({"posterior": "swag", "epochs": 1}, "swag needs at least 2 epochs"),
        ({"posterior": "cyclical-sghmc", "epochs": 1}, "run more epochs"),
        ({"posterior": CyclicalSGHMC(4, 2), "epochs": 3}, "shared evenly by the 0 cycles of 4 epochs"),
        ({"posterior": OBJECTS["settings"], "chains": 1}, "settings for 2 chains and chains=1: set chains=2"),
        ({"posterior": OBJECTS["settings"], "draws": 4}, "1 draw a chain, 2 in all, not draws=4"),
    ],
)
def test_what_cannot_work_is_refused_before_any_input_is_read(wrong, said):
    with pytest.raises(SettingsError, match=said):
        gate_of(**wrong).fit("there is no such file.npy")


def test_what_depends_on_the_number_of_inputs_is_refused_before_training(rows):
    with pytest.raises(SettingsError, match=r"draws=1 a chain must be shared evenly"):
        gate_of(CyclicalSGHMC(4, 2), epochs=None).fit(rows)
