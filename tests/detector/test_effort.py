"""Efforts: three operating points of one fit, each with a score and a calibration of its own."""

import copy
import json
import threading

import numpy as np
import pytest
import torch

from dissensus import BayesianVAE, Detector
from dissensus.detector.effort import EFFORTS, WHOLE, Effort, at_effort, effort_draws
from dissensus.detector.measuring import measure, scores_of_measured
from dissensus.errors import ArtifactError, DataError, SettingsError
from dissensus.likelihood import input_statistics, log_likelihoods, one_look
from dissensus.models.inputs import to_tensor
from dissensus.scores import Measured, score

CPU = torch.device("cpu")
CHEAP = [name for name in EFFORTS if name != WHOLE.name]


@pytest.fixture(scope="module")
def gate(quick, pictures):
    return quick(chains=2, draws=20, epochs=12).fit(pictures)


@pytest.mark.parametrize("effort", EFFORTS)
def test_each_effort_has_calibration_scores_of_its_own_score(gate, effort):
    own = at_effort(gate, effort)
    assert len(own.calibration_scores_) == gate.fitted_rows_["calibration"]
    assert own.asked_.draws.chain.tolist().count(0) == min(20, EFFORTS[effort].draws or 20) // 2
    others = [at_effort(gate, name).calibration_scores_ for name in EFFORTS if name != effort]
    assert all(not np.array_equal(own.calibration_scores_, other) for other in others)


@pytest.mark.parametrize("effort", CHEAP)
def test_an_input_s_score_does_not_depend_on_its_company(gate, pictures, effort):
    own = at_effort(gate, effort)
    together = own.decide(pictures).score
    np.testing.assert_array_equal(
        np.concatenate([own.decide(x[None]).score for x in pictures[:9]]), together[:9]
    )
    np.testing.assert_array_equal(own.decide(pictures[::-1]).score[::-1], together)
    np.testing.assert_array_equal(own.decide(pictures[5:40]).score, together[5:40])


def test_one_look_gives_the_likelihood_of_a_sample_without_noise_and_the_statistics(
    gate, pictures, monkeypatch
):
    data, draws = to_tensor(pictures[:11, ..., None]), gate.draws_
    matrix, statistics = one_look(gate.vae_, draws, data)
    expected = input_statistics(gate.vae_, draws, data)
    assert statistics.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_array_equal(statistics[name], values)
    monkeypatch.setattr("torch.randn", lambda *shape, **_: np_zeros(shape))
    np.testing.assert_allclose(matrix, log_likelihoods(gate.vae_, draws, data, samples=1).values, rtol=1e-6)


def np_zeros(shape):
    return torch.zeros(shape)


def test_a_saved_gate_has_all_efforts_and_the_one_it_was_saved_with(gate, pictures, tmp_path):
    at_effort(gate, "fast").save(tmp_path / "gate")
    loaded = Detector.load(tmp_path / "gate", device="cpu")
    assert loaded.effort == "fast"
    for effort in EFFORTS:
        for ours, theirs in zip(
            at_effort(gate, effort).decide(pictures), at_effort(loaded, effort).decide(pictures), strict=True
        ):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    "damage",
    [
        lambda c: c["efforts"].update(effort="hasty"),
        lambda c: c["efforts"]["levels"].pop("fast"),
        lambda c: c["efforts"]["levels"].update(hasty=c["efforts"]["levels"]["fast"]),
        lambda c: c["efforts"]["levels"]["fast"]["effort"].update(draws=-1),
        lambda c: c["efforts"]["levels"]["fast"]["effort"].update(samples=1.5),
        lambda c: c["efforts"]["levels"]["fast"]["effort"].update(leaves_out="code-length"),
        lambda c: c["efforts"]["levels"]["fast"]["score"].update(score="kl"),
    ],
)
def test_what_no_fit_could_have_left_is_refused(gate, damage, tmp_path):
    from dissensus.detector.saving import restored, to_artifact

    artifact = to_artifact(gate)
    config = json.loads(json.dumps(artifact.config))
    damage(config)
    changed = type(artifact)(config, artifact.draws, artifact.calibration)
    own = {"model": None, "observation": None, "networks": None, "embed": None}
    with pytest.raises((ArtifactError, SettingsError)):
        restored(BayesianVAE, changed, device="cpu", statistic=None, own=own)


@pytest.mark.parametrize("keep", [False, True])
def test_recalibration_is_of_every_effort(gate, pictures, keep):
    again = copy.copy(gate).recalibrate(pictures[:30], keep=keep)
    for effort in EFFORTS:
        own, old = at_effort(again, effort), at_effort(gate, effort)
        new = own.decide(pictures[:30]).score
        expected = np.concatenate([old.calibration_scores_, new]) if keep else new
        np.testing.assert_allclose(own.calibration_scores_, expected, rtol=1e-9)


def test_what_is_confirmed_joins_the_calibration_of_every_effort(gate, pictures):
    again = copy.copy(gate)
    joined = again.confirm(pictures[:30], normal=True, audited=1.0).joined
    assert joined
    for effort in EFFORTS:
        old, new = at_effort(gate, effort), at_effort(again, effort).calibration_scores_[-joined:]
        assert np.isclose(new[:, None], old.decide(pictures[:30]).score, rtol=1e-9).any(axis=1).all()


def test_rows_and_the_scores_of_the_paper_are_asked_in_one_way(row_gate, fitted, rows, pictures):
    for own, inputs in ((row_gate, rows), (fitted("pictures", statistic="ess"), pictures)):
        assert not own.learnt_.levels
        np.testing.assert_array_equal(at_effort(own, "fast").decide(inputs).score, own.decide(inputs).score)


def test_an_effort_that_is_none_is_refused(gate, quick, rows):
    with pytest.raises(SettingsError, match="fast, standard, thorough"):
        quick(effort="hasty").fit(rows)
    with pytest.raises(SettingsError, match="fast, standard, thorough"):
        at_effort(gate, "hasty").decide(rows)


def test_draws_that_are_asked_are_evenly_spaced_and_of_each_chain_the_last(gate):
    def of(**changes):
        own = effort_draws(Effort("own", **changes), gate.draws_)
        return list(zip(own.chain.tolist(), own.epoch.tolist(), strict=True))

    every = list(zip(gate.draws_.chain.tolist(), gate.draws_.epoch.tolist(), strict=True))
    assert of() == every == of(draws=99)
    last = max(epoch for _, epoch in every)
    assert of(draws=2) == [(0, last), (1, last)]
    assert of(draws=1) == [(0, last)]
    assert of(draws=5) == of(draws=4)
    assert of(draws=4, chains=1)[-1] == (0, last)
    assert {chain for chain, _ in of(draws=4, chains=1)} == {0}


def test_scores_of_many_inputs_are_made_on_all_cores_and_are_each_input_s_own(
    gate, pictures, two_cores, monkeypatch
):
    asked = gate.asked_
    measured = measure(asked, pictures[:50, ..., None], asked.score.requires, device=CPU)
    whole = scores_of_measured(asked.score, measured)
    monkeypatch.setattr("dissensus.detector.measuring.SHARE", 20)
    threads, own = [], type(asked.score).__call__

    def noted(self, part):
        threads.append(threading.current_thread())
        return own(self, part)

    monkeypatch.setattr(type(asked.score), "__call__", noted)
    np.testing.assert_array_equal(scores_of_measured(asked.score, measured), whole)
    assert len(set(threads)) == 2
    assert threading.main_thread() not in threads


def test_an_input_that_is_refused_is_numbered_among_all(two_cores, monkeypatch):
    monkeypatch.setattr("dissensus.detector.measuring.SHARE", 20)
    matrix = np.zeros((3, 50))
    matrix[:, 43] = np.nan
    with pytest.raises(DataError, match=r"\b43\b"):
        scores_of_measured(score("kl"), Measured(matrix))
