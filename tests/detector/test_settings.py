"""Settings that cannot work are refused before any work is done."""

import numpy as np
import pytest
import torch
from torch import nn

from dissensus.detector.settings import find_device
from dissensus.errors import SettingsError
from dissensus.scores import SCORES, score

BAD = [
    ({"variant": 3}, "variant must be 1 or 2, got 3"),
    ({"variant": "1"}, "variant must be 1 or 2, got '1'"),
    ({"statistic": "nope"}, "there is no score 'nope'; choose one of ess"),
    ({"statistic": None}, "statistic=None is no score"),
    ({"draws": 5, "chains": 2}, "draws=5 must be a multiple of chains=2"),
    ({"chains": 0}, "chains must be a whole number of at least 1, got 0"),
    ({"draws": 0}, "draws must be a whole number of at least 1, got 0"),
    ({"draws": 4.0}, "draws must be a whole number"),
    ({"samples": 0}, "samples must be a whole number"),
    ({"epochs": 0}, "epochs must be a whole number of at least 1, got 0"),
    ({"epochs": 1, "chains": 1}, "1 epochs give at most 1 draws a chain, not 4: run more epochs"),
    ({"batch_size": -1}, "batch_size must be a whole number"),
    ({"latent_size": 0}, "latent_size must be a whole number"),
    ({"false_alarm_rate": 0}, "false_alarm_rate must lie between 0 and 1, got 0"),
    ({"false_alarm_rate": 1}, "false_alarm_rate must lie between 0 and 1, got 1"),
    ({"false_alarm_rate": np.nan}, "false_alarm_rate must lie between 0 and 1, got nan"),
    ({"false_alarm_rate": "5%"}, "false_alarm_rate must lie between 0 and 1, got '5%'"),
    ({"step_size": 0.0}, "step_size"),
    ({"step_size": np.nan}, "step_size"),
    ({"observation": "poisson"}, "observation='poisson' is not known"),
    ({"encoder": nn.Identity()}, "encoder and decoder belong together: pass both or none"),
    ({"decoder": nn.Identity()}, "encoder and decoder belong together: pass both or none"),
    (
        {"encoder": nn.Identity(), "decoder": nn.Identity(), "latent_size": None},
        "latent_size must be given with networks of your own",
    ),
    ({"device": "tpu"}, "device='tpu' is not there: use 'cpu'"),
    ({"device": None}, "device=None is not there"),
]


@pytest.mark.parametrize(("settings", "message"), BAD, ids=[str(settings) for settings, _ in BAD])
def test_settings_that_cannot_work(quick, rows, settings, message):
    with pytest.raises(SettingsError) as error:
        quick(**settings).fit(rows)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("statistic", [name for name in SCORES if score(name).least_draws > 1])
def test_one_draw_cannot_disagree(quick, rows, statistic):
    with pytest.raises(SettingsError, match="needs at least two draws, got draws=1"):
        quick(statistic=statistic, draws=1, chains=1).fit(rows)


@pytest.mark.parametrize("statistic", [name for name in SCORES if score(name).least_draws == 1])
def test_one_draw_is_enough_for_likelihood(quick, rows, statistic):
    gate = quick(statistic=statistic, draws=1, chains=1).fit(rows)
    assert np.isfinite(gate.score_samples(rows)).all()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there(quick, rows, row_gate, tmp_path):
    with pytest.raises(SettingsError, match="device='cuda' is not there: use 'cpu', or 'auto'"):
        quick(device="cuda").fit(rows)
    row_gate.save(tmp_path / "gate")
    with pytest.raises(SettingsError, match="device='cuda' is not there"):
        type(row_gate).load(tmp_path / "gate", device="cuda")


def test_auto_is_a_device_that_is_there():
    assert find_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")


def test_numpy_numbers_are_numbers(quick, rows, row_gate, tmp_path):
    """As a grid search hands them out; they must also be saved."""
    gate = quick(
        draws=np.int64(4),
        chains=np.int32(2),
        epochs=np.int64(4),
        batch_size=np.int64(16),
        samples=np.int64(4),
        latent_size=np.int64(2),
        widths=np.array([8]).tolist(),
        false_alarm_rate=np.float64(0.2),
        step_size=np.float64(0.01),
        random_state=np.int64(0),
    ).fit(rows)
    np.testing.assert_array_equal(gate.score_samples(rows), row_gate.score_samples(rows))
    gate.save(tmp_path / "gate")
    again = type(gate).load(tmp_path / "gate", device="cpu")
    np.testing.assert_allclose(again.score_samples(rows), row_gate.score_samples(rows), rtol=1e-6)
