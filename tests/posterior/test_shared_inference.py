"""Chains that share one encoder, and so one latent space."""

import numpy as np
import pytest
import torch

from dissensus import Detector
from dissensus.errors import SettingsError
from dissensus.models import Sequences, build_vae
from dissensus.posterior import SGHMC, SamplingSettings, sample_posterior

MODELS = {
    "vae": lambda: build_vae((5,), latent_size=2, widths=(8,), generator=torch.Generator().manual_seed(0)),
    "sequences": lambda: Sequences(5, 4, latent_size=2, embedding=4, hidden=8),
}


def settings(**changes):
    given = {"epochs": 3, "burn_in": 2, "chains": 3, "batch_size": 16, "shared_inference": True}
    return SamplingSettings.variant_1(SGHMC(), **{**given, **changes})


@pytest.mark.parametrize("make", MODELS.values(), ids=list(MODELS))
def test_all_chains_have_the_first_one_s_encoder(make):
    data = torch.randint(0, 4, (48, 5), generator=torch.Generator().manual_seed(1)).float()
    alone = sample_posterior(make(), data / 4, settings(chains=1), seed=0)
    draws = sample_posterior(make(), data / 4, settings(), seed=0, held_out=data[:8] / 4)
    assert draws.chain.tolist() == [0, 0, 1, 1, 2, 2]
    assert list(draws.parts) == list(make().parts())
    assert len(list(draws.sharing(("encoder",)))) == 1
    for name, tensor in alone.weights("encoder", 1).items():
        assert torch.equal(draws.weights("encoder", 5)[name], tensor)
    for name, tensor in alone.weights("decoder", 1).items():
        assert torch.equal(draws.weights("decoder", 1)[name], tensor)
        others = [draws.weights("decoder", draw)[name] for draw in (3, 5)]
        assert not torch.equal(*others)


def test_settings_come_back_and_fit_what_is_drawn():
    own = settings()
    assert SamplingSettings.from_description(own.describe()) == own
    assert "shared_inference" not in settings(shared_inference=False).describe()
    with pytest.raises(SettingsError, match="shared_inference"):
        SamplingSettings.variant_2(SGHMC(), epochs=3, shared_inference=True)


def test_a_gate_has_one_latent_space_for_all_its_chains(tmp_path):
    rows = np.random.default_rng(0).normal(size=(80, 4))
    gate = Detector(
        model="vae", posterior=settings(), chains=3, statistic="mean-ll", samples=2, false_alarm_rate=0.2
    ).fit(rows)
    assert len(gate.latent.draws) == 6
    assert "share one encoder" in repr(gate.latent)
    gate.save(tmp_path / "gate")
    again = Detector.load(tmp_path / "gate")
    z = gate.latent.encode(rows[:5])
    assert torch.equal(again.latent.disagreement(z), gate.latent.disagreement(z))
    assert torch.equal(again.latent.log_q(z), gate.latent.log_q(z))
    assert gate.latent.decode(z).shape == (5, 4)
    assert torch.equal(again.latent.p_values(z), gate.latent.p_values(z))
