from dataclasses import replace

import numpy as np
import pytest

from benchmarks.panel import configuration, runs
from benchmarks.panel.inputs import load_inputs
from benchmarks.panel.runs import PanelRun
from benchmarks.panel.scores import sections_of
from benchmarks.panel.sets import INLIER_SETS
from benchmarks.panel.tasks import panel_sizes
from dissensus.inputs import image_statistic_names
from dissensus.likelihood import input_statistics
from dissensus.models.vae import likelihood_regret
from dissensus.posterior import load_weights

MNIST = INLIER_SETS["mnist"]


def key_of(regret=0, **changes):
    sizes = replace(panel_sizes(quick=True), regret=regret)
    return PanelRun(MNIST, replace(configuration.RECOMMENDED, **changes), sizes, seed=0)


def run(*keys):
    inputs = load_inputs(MNIST, keys[0].sizes, seed=0)
    return [result for _, result in PanelRun.make(keys, inputs, lambda _: None, None)]


@pytest.fixture
def sampled(monkeypatch):
    """The draws of every training that really took place."""
    made, sample = [], runs.sample_together

    def remember(trainings):
        drawn = sample(trainings)
        made.extend(drawn)
        return drawn

    monkeypatch.setattr(runs, "sample_together", remember)
    return made


def test_one_training_and_one_matrix_serve_all_that_use_fewer_draws(sampled, monkeypatch):
    matrices, make = [], runs.log_likelihoods
    monkeypatch.setattr(
        runs, "log_likelihoods", lambda *rest, **more: matrices.append(more["samples"]) or make(*rest, **more)
    )
    counts, measure = [], runs.input_statistics
    monkeypatch.setattr(
        runs,
        "input_statistics",
        lambda vae, draws, *rest, **more: counts.append(len(draws)) or measure(vae, draws, *rest, **more),
    )
    keys = [key_of(), key_of(used_chains=1), key_of(used_draws=1), key_of(samples=3)]
    whole, one_chain, last, finer = run(*keys)
    assert len(sampled) == 1
    assert matrices == [2, 3]
    assert counts == [4, 2, 2], "once for each set of draws"
    assert finer.below("statistic").keys() == whole.below("statistic").keys()
    np.testing.assert_array_equal(one_chain["matrix"], whole["matrix"][:2])
    np.testing.assert_array_equal(last["matrix"], whole["matrix"][[1, 3]])
    inputs = load_inputs(MNIST, panel_sizes(quick=True), seed=0)
    vae = configuration.RECOMMENDED.vae(MNIST.shape)
    expected = input_statistics(vae, sampled[0].select(np.array([1, 3])), inputs.scored)
    assert set(last.below("statistic")) == {*expected, *image_statistic_names((28, 28, 1)), "isolation"}
    for name, values in expected.items():
        np.testing.assert_array_equal(last.below("statistic")[name], values)
    assert (last.below("statistic")["reconstruction"] != whole.below("statistic")["reconstruction"]).any()


def test_samples_and_noise_change_the_matrix_and_not_the_draws(sampled):
    shared, more, fresh = run(key_of(), key_of(samples=3), key_of(noise="fresh"))
    assert len(sampled) == 1
    assert (shared["matrix"] != more["matrix"]).all()
    assert (shared["matrix"] != fresh["matrix"]).any(axis=1).all()
    np.testing.assert_array_equal(
        shared.below("statistic")["latent-norm"], fresh.below("statistic")["latent-norm"]
    )


def test_names_tell_apart_what_differs_and_nothing_else():
    base = key_of()
    assert base.name == key_of(score="ess").name
    others = [key_of(samples=3), key_of(used_draws=1), key_of(noise="fresh"), key_of(observation="gaussian")]
    others += [replace(base, seed=1), replace(base, purpose="selection"), key_of(regret=1)]
    assert len({each.name for each in (base, *others)}) == 8
    assert base.training == key_of(samples=3).training == key_of(used_chains=1).training
    assert base.training != key_of(observation="gaussian").training
    assert base.training != key_of(step_size=0.02).training


def test_regret_is_that_of_the_last_draw_on_the_first_images_of_every_section(sampled, monkeypatch):
    quickly = lambda *rest, **more: likelihood_regret(*rest, steps=2, samples=2, **more)  # noqa: E731
    monkeypatch.setattr(runs, "likelihood_regret", quickly)
    (result,) = run(key_of(regret=2))
    first = np.zeros(len(result["regret"]), dtype=bool)
    for part in sections_of(result).values():
        first[part.start : part.start + 2] = True
    np.testing.assert_array_equal(~np.isnan(result["regret"]), first)
    vae, draws = configuration.RECOMMENDED.vae(MNIST.shape), sampled[0]
    for part, network in (("encoder", vae.encoder), ("decoder", vae.decoder)):
        load_weights(network, draws.weights(part, len(draws) - 1))
    inputs = load_inputs(MNIST, panel_sizes(quick=True), seed=0)
    start = sections_of(result)["kmnist"].start
    expected = quickly(vae, inputs.scored[start : start + 2], seed=0)
    np.testing.assert_allclose(result["regret"][start : start + 2], expected, rtol=1e-6)


def test_trainings_made_together_are_what_each_is_alone(sampled):
    keys = [key_of(posterior="ensemble"), key_of(), key_of(used_draws=1)]
    together = run(*keys)
    assert len(sampled) == 2
    for key, result in zip(keys, together, strict=True):
        (alone,) = run(key)
        np.testing.assert_array_equal(result["matrix"], alone["matrix"])
        for name, values in alone.below("statistic").items():
            np.testing.assert_array_equal(result.below("statistic")[name], values)
    assert together[0].info["trained_with"] == ["mnist, sghmc, seed 0"]
