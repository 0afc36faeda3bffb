"""Chains that do not sample warn whoever fits, and say what to change."""

import numpy as np
import pytest

from dissensus import BayesianVAE
from dissensus.errors import SamplerWarning, SettingsError
from dissensus.posterior import SWAG

SMALL = {"epochs": 30, "draws": 4, "samples": 2, "latent_size": 2, "widths": (8,), "device": "cpu"}


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(160, 6)) @ np.diag([1, 2, 3, 4, 5, 6])


def test_a_fit_that_does_not_sample_warns_its_caller(rows):
    gate = BayesianVAE(**SMALL, step_size=1e-4, adaptation=1)
    with pytest.warns(SamplerWarning, match=r"have not settled: .* \(epochs=60, --epochs 60\)") as seen:
        gate.fit(rows)
    assert [each.filename for each in seen] == [__file__]
    assert gate.predict(rows[:3]).shape == (3,)  # it goes on, warned


def test_adaptation_is_for_samplers_and_a_number_of_epochs(rows):
    for posterior in ("swag", "ensemble", SWAG(rank=2)):
        with pytest.raises(SettingsError, match="is no sampler and has no scales to adapt"):
            BayesianVAE(**{**SMALL, "draws": 2}, posterior=posterior, adaptation=3).fit(rows)
    for wrong in (-1, 2.5, "all"):
        with pytest.raises(SettingsError, match="adaptation must be a whole number"):
            BayesianVAE(**SMALL, adaptation=wrong).fit(rows)
