"""A gate of another density of pictures is a gate as any: files, efforts, explanations, posteriors, ONNX."""

import warnings

import numpy as np
import pytest
import torch

from dissensus import Detector
from dissensus.detector.effort import at_effort
from dissensus.errors import SettingsError
from dissensus.explain import views
from dissensus.export import agreement, export_gate, session_of
from dissensus.models import PixelCNN
from dissensus.models.inputs import to_tensor
from dissensus.posterior import load_draw

QUICK = {"epochs": 4, "batch_size": 32, "device": "cpu", "false_alarm_rate": 0.2}


def pictures(count, seed=1):
    rng = np.random.default_rng(seed)
    ramp = np.linspace(130, 0, 8)[None, :, None]
    return (rng.integers(0, 120, (count, 9, 8, 3)) + ramp).astype(np.uint8)


def fitted(**settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Detector(**{"model": "pixelcnn"} | QUICK | settings).fit(pictures(160))


@pytest.fixture(scope="module")
def gate():
    return fitted(draws=4, chains=2)


def test_its_rows_come_back_from_a_file(gate, tmp_path):
    gate.save(tmp_path / "gate")
    again = Detector.load(tmp_path / "gate")
    assert isinstance(again.model_, PixelCNN)
    asked = pictures(5, seed=2)
    assert np.array_equal(again.score_samples(asked), gate.score_samples(asked))
    assert np.array_equal(again.score_samples(asked[3:4]), gate.score_samples(asked)[3:4])


def test_every_effort_has_the_exact_likelihood(gate):
    asked = pictures(5, seed=2)
    matrix = gate.log_likelihoods(asked).values
    assert matrix.shape == (4, 5)
    for effort in ("standard", "thorough"):
        found = at_effort(gate, effort).statistics(asked)
        np.testing.assert_allclose(found["mean-ll"], -matrix.mean(axis=0), rtol=1e-12)
        assert {"corrected-ll", "reconstruction", "pixel-variance", "reconstruction-spread"} <= set(found)


def test_the_map_is_how_far_draws_are_apart_about_each_pixel(gate):
    asked, own = pictures(2, seed=2), PixelCNN((3, 9, 8))
    terms = []
    for draw in range(4):
        load_draw(own, gate.draws_, draw)
        with torch.no_grad():
            terms.append(own.observe(to_tensor(asked), ())["terms"].sum(1))
    expected = torch.stack(terms).std(0, correction=0)
    seen = views(gate.model_, gate.draws_, to_tensor(asked), reconstructions=0).disagreement
    np.testing.assert_allclose(seen, expected.numpy(), rtol=1e-4, atol=1e-5)
    explained = gate.explain(asked[0])
    np.testing.assert_allclose(explained.disagreement, seen[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("model", ["pixelcnn", "deep-vae"])
def test_it_is_exported_and_says_the_same(gate, model, tmp_path):
    gate = gate if model == "pixelcnn" else fitted(model=model, draws=4, chains=2)
    export_gate(gate, tmp_path / "gate.onnx")
    noise = np.random.default_rng(2).integers(0, 256, (10, 9, 8, 3), dtype=np.uint8)
    asked = np.concatenate([pictures(40, seed=3), noise, np.zeros((1, 9, 8, 3), np.uint8)])
    assert agreement(gate, tmp_path / "gate.onnx", asked).largest_difference < 1e-2  # no NaN
    ours = gate.decide(asked)
    score, _, flagged = session_of(tmp_path / "gate.onnx", threads=1).run(None, {"pixels": asked})
    np.testing.assert_allclose(score, ours.score, atol=2e-3, rtol=1e-3)
    assert (flagged != ours.flagged).sum() <= 1


@pytest.mark.parametrize("posterior", ["ensemble", "variational"])
def test_other_posteriors_draw_it_too(posterior):
    gate = fitted(posterior=posterior, draws=2, chains=2, statistic="std")
    assert np.isfinite(gate.score_samples(pictures(3, seed=2))).all()


def test_rows_are_refused_in_a_sentence():
    with pytest.raises(SettingsError, match="take a flow"):
        Detector(model="pixelcnn", **QUICK, draws=4).fit(np.random.default_rng(0).normal(size=(50, 4)))
