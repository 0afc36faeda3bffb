import inspect
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.panel.configuration import (
    POSTERIOR_RUNS,
    RECOMMENDED,
    Configuration,
    find_posteriors,
    with_posterior,
)
from benchmarks.panel.scores import PANEL_SCORES
from dissensus import BayesianVAE
from dissensus.detector.sampling import expected_sampler, sampling_settings
from dissensus.errors import SettingsError


def test_what_is_recommended_is_what_the_detector_does_by_default():
    defaults = {name: each.default for name, each in inspect.signature(BayesianVAE).parameters.items()}
    sampler = expected_sampler(BayesianVAE(), rows=False)
    for name in ("variant", "chains", "draws", "samples", "epochs", "batch_size", "step_size"):
        expected = getattr(sampler, name) if hasattr(sampler, name) else defaults[name]
        assert getattr(RECOMMENDED, name) == expected, name
    assert RECOMMENDED.score in PANEL_SCORES
    own = RECOMMENDED.sampling(48_000)
    assert own == sampling_settings(BayesianVAE(), sampler, 48_000)


def test_every_posterior_changes_nothing_else():
    for name in POSTERIOR_RUNS:
        settings = with_posterior(RECOMMENDED, name).settings
        changed = {key for key, value in RECOMMENDED.settings.items() if settings[key] != value}
        assert changed <= {"posterior", "variant"}
        assert with_posterior(RECOMMENDED, name).sampling(48_000).chains == RECOMMENDED.chains


def test_used_draws_end_with_the_last_and_are_evenly_spaced():
    chain = np.repeat([0, 1, 2], 9)
    assert replace(RECOMMENDED, used_draws=1).used(chain).tolist() == [8, 17, 26]
    assert replace(RECOMMENDED, used_draws=3, used_chains=2).used(chain).tolist() == [0, 4, 8, 9, 13, 17]
    assert RECOMMENDED.used(chain).tolist() == list(range(27))
    with pytest.raises(SettingsError, match="more than the 9 draws"):
        replace(RECOMMENDED, used_draws=10).used(chain)


def test_wrong_words_are_refused():
    with pytest.raises(SettingsError, match="noise is shared or fresh"):
        Configuration("sghmc", 1, "bernoulli", 2, 4, 2, "kl", noise="other")
    with pytest.raises(SettingsError, match="no posterior 'laplace'"):
        find_posteriors(["laplace"])
    assert find_posteriors([]) == list(POSTERIOR_RUNS)
