"""Chains and draws on several devices; CPU devices stand in for the GPUs that are not here."""

import numpy as np
import pytest
import torch

from dissensus.detector import settings as detector_settings
from dissensus.likelihood import log_likelihoods, log_likelihoods_on
from dissensus.posterior import SamplingSettings, sample_on_devices, sample_posterior

CPUS = [torch.device("cpu")] * 3
SETTINGS = SamplingSettings.variant_1(epochs=5, burn_in=2, chains=4, batch_size=100)


@pytest.fixture
def alone(vectors, vector_vae):
    return sample_posterior(vector_vae, vectors, SETTINGS, seed=0, held_out=vectors[:9])


def same(found, expected):
    for part, own in expected.parts.items():
        np.testing.assert_array_equal(found.parts[part].of, own.of)
        for name, stack in own.stacks.items():
            np.testing.assert_array_equal(found.parts[part].stacks[name], stack)
    assert found.chain.tolist() == expected.chain.tolist()
    assert found.diagnostics.rhat == expected.diagnostics.rhat != {}


def test_chains_on_three_devices_are_those_of_one(vectors, vector_vae, alone):
    told = []
    found = sample_on_devices(
        vector_vae, vectors, SETTINGS, CPUS, seed=0, held_out=vectors[:9], on_epoch=told.append
    )
    same(found, alone)
    assert [[report.chain for report in reports] for reports in told] == [[0, 1, 2, 3]] * 5
    assert [reports[0].epoch for reports in told] == [1, 2, 3, 4, 5]


def test_an_interrupted_run_on_several_devices_goes_on(vectors, vector_vae, alone, tmp_path):
    def stop(reports):
        if reports[0].epoch == 2:
            raise KeyboardInterrupt

    asked = {"seed": 0, "held_out": vectors[:9], "checkpoint": tmp_path}
    with pytest.raises(KeyboardInterrupt):
        sample_on_devices(vector_vae, vectors, SETTINGS, CPUS, on_epoch=stop, **asked)
    same(sample_on_devices(vector_vae, vectors, SETTINGS, CPUS, **asked), alone)


def test_draws_on_several_devices_are_those_of_one(vectors, vector_vae, alone):
    done = []
    found = log_likelihoods_on(CPUS, vector_vae, alone, vectors[:40], samples=3, on_tile=done.append)
    expected = log_likelihoods(vector_vae, alone, vectors[:40], samples=3)
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.errors, expected.errors)
    assert sum(done) == found.values.size


def test_a_gpu_without_a_number_means_all_of_them(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    names = {
        name: [str(d) for d in detector_settings.all_devices(torch.device(name))]
        for name in ("cuda", "cuda:1", "cpu")
    }
    assert names == {"cuda": ["cuda:0", "cuda:1"], "cuda:1": ["cuda:1"], "cpu": ["cpu"]}
