"""Encoders and decoders of one's own: fitted, scored, saved, and passed again to load."""

import numpy as np
import pytest
import torch
from torch import nn

from dissensus import BayesianVAE
from dissensus.errors import ArtifactError, SettingsError


def row_networks(width=6):
    """For rows of 4 under the default Gaussian with a learned scale (2 parameters a number), 2 latents."""
    torch.manual_seed(0)
    encoder = nn.Sequential(nn.Linear(4, width), nn.Tanh(), nn.Linear(width, 4))
    return encoder, nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 8))


def picture_networks():
    torch.manual_seed(0)
    encoder = nn.Sequential(nn.Conv2d(1, 2, 4, 2), nn.ReLU(), nn.Flatten(), nn.Linear(40, 4))
    return encoder, nn.Sequential(nn.Linear(2, 120), nn.Unflatten(1, (1, 10, 12)))


NETWORKS = {"rows": row_networks, "pictures": picture_networks}


@pytest.mark.parametrize("kind", NETWORKS)
@pytest.mark.parametrize("variant", [1, 2])
def test_fitted_scored_saved_and_loaded(quick, inputs, kind, variant, tmp_path):
    encoder, decoder = NETWORKS[kind]()
    before = [weight.clone() for weight in encoder.parameters()]
    gate = quick(variant=variant, encoder=encoder, decoder=decoder).fit(inputs[kind])
    assert all(map(torch.equal, before, encoder.parameters()))  # they are the caller's
    scores = gate.score_samples(inputs[kind])
    gate.save(tmp_path / "gate")
    torch.manual_seed(1)
    encoder, decoder = NETWORKS[kind]()
    again = BayesianVAE.load(tmp_path / "gate", device="cpu", encoder=encoder, decoder=decoder)
    np.testing.assert_allclose(again.score_samples(inputs[kind]), scores, rtol=1e-6)


def test_loading_without_them_says_so(quick, rows, tmp_path):
    encoder, decoder = row_networks()
    quick(encoder=encoder, decoder=decoder).fit(rows).save(tmp_path / "gate")
    with pytest.raises(
        ArtifactError, match="made of custom networks, which are not saved: pass encoder= and decoder="
    ):
        BayesianVAE.load(tmp_path / "gate")
    with pytest.raises(SettingsError, match="encoder and decoder belong together"):
        BayesianVAE.load(tmp_path / "gate", encoder=encoder)


def test_loading_with_others_says_so(quick, rows, tmp_path):
    encoder, decoder = row_networks()
    quick(encoder=encoder, decoder=decoder).fit(rows).save(tmp_path / "gate")
    with pytest.raises(
        ArtifactError, match="draws are not of this encoder: pass the networks it was fitted with"
    ):
        BayesianVAE.load(tmp_path / "gate", encoder=row_networks(7)[0], decoder=decoder)
    with pytest.raises(ArtifactError, match="draws are not of this decoder"):
        BayesianVAE.load(tmp_path / "gate", encoder=encoder, decoder=row_networks(7)[1])


def test_passing_them_where_there_were_none_says_so(row_gate, tmp_path):
    row_gate.save(tmp_path / "gate")
    encoder, decoder = row_networks()
    with pytest.raises(ArtifactError, match="leave encoder= and decoder= out"):
        BayesianVAE.load(tmp_path / "gate", encoder=encoder, decoder=decoder)


def test_networks_of_the_wrong_shape_are_refused_before_any_work(quick, rows):
    encoder, decoder = row_networks()
    with pytest.raises(SettingsError, match=r"^encoder: "):
        quick(encoder=nn.Linear(5, 4), decoder=decoder).fit(rows)
    with pytest.raises(SettingsError, match=r"^decoder: "):
        quick(encoder=encoder, decoder=nn.Linear(2, 7)).fit(rows)
    with pytest.raises(SettingsError, match="Dropout"):
        quick(encoder=nn.Sequential(encoder, nn.Dropout()), decoder=decoder).fit(rows)
