"""The same input gets the same bits: alone, in any batch, in any order, on any number of threads."""

import numpy as np
import pytest
import torch

from dissensus import BayesianVAE
from dissensus.likelihood import input_statistics, keeps_bits, log_likelihoods
from dissensus.models import VAE, build_vae
from dissensus.posterior import PartDraws, WeightDraws

QUICK = {"epochs": 3, "draws": 4, "samples": 4, "false_alarm_rate": 0.2, "device": "cpu"}


def draws_of(vae):
    two = np.arange(2)
    parts = {
        part: PartDraws(
            {n: torch.stack([p.detach(), 1.1 * p.detach()]) for n, p in m.named_parameters()}, two
        )
        for part, m in vae.parts().items()
    }
    return WeightDraws(parts, two, two + 1)


def everything(vae, draws, x, one_a_call):
    matrix = log_likelihoods(vae, draws, x, samples=16, one_a_call=one_a_call).values
    return np.vstack([matrix, *input_statistics(vae, draws, x, one_a_call=one_a_call).values()])


@pytest.mark.parametrize("widths", [(7,), (10,), (33,), (5, 3), (64, 64)])
@pytest.mark.parametrize("columns", [1, 2, 3, 9, 17, 40])
def test_odd_widths_and_columns(widths, columns):
    generator = torch.Generator().manual_seed(0)
    vae = build_vae((columns,), widths=widths, observation="gaussian", generator=generator)
    draws, x = draws_of(vae), torch.randn(300, columns, generator=torch.Generator().manual_seed(1))
    one_a_call = not keeps_bits(vae, draws, x, samples=16)
    whole = everything(vae, draws, x, one_a_call)
    order = np.random.default_rng(0).permutation(300)
    shuffled = everything(vae, draws, x[torch.from_numpy(order)], one_a_call)
    np.testing.assert_array_equal(shuffled, whole[:, order])
    for start, stop in ((0, 1), (299, 300), (7, 9), (100, 117), (1, 298)):
        np.testing.assert_array_equal(everything(vae, draws, x[start:stop], one_a_call), whole[:, start:stop])


@pytest.mark.parametrize("shape", [(1, 9, 11), (3, 8, 13), (1, 28, 28)])
def test_odd_sides(shape):
    vae = build_vae(shape, generator=torch.Generator().manual_seed(0))
    draws = draws_of(vae)
    x = torch.randint(0, 256, (21, *shape), generator=torch.Generator().manual_seed(1)).byte()
    one_a_call = not keeps_bits(vae, draws, x, samples=16)
    whole = everything(vae, draws, x, one_a_call)
    order = np.random.default_rng(0).permutation(21)
    np.testing.assert_array_equal(
        everything(vae, draws, x[torch.from_numpy(order)], one_a_call), whole[:, order]
    )
    for n in (0, 10, 20):
        np.testing.assert_array_equal(everything(vae, draws, x[n : n + 1], one_a_call), whole[:, n : n + 1])


def test_the_number_of_threads_changes_nothing():
    vae = build_vae((9,), widths=(7,), observation="gaussian", generator=torch.Generator().manual_seed(0))
    draws, x = draws_of(vae), torch.randn(50, 9, generator=torch.Generator().manual_seed(1))
    before = torch.get_num_threads()
    try:
        found = []
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            found.append(everything(vae, draws, x, True))
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])


class Placed(VAE):
    """A row's place is added to its bits on purpose, whatever the machine."""

    def encode(self, x):
        mean, log_std = super().encode(x)
        return mean * (1 + 1e-6 * torch.arange(len(mean))[:, None]), log_std


@pytest.mark.parametrize("kind", [VAE, Placed])
def test_a_model_that_mixes_places_is_found_out(kind):
    vae = build_vae((4,), widths=(16,), observation="gaussian", generator=torch.Generator().manual_seed(0))
    vae.__class__ = kind
    x = torch.randn(30, 4, generator=torch.Generator().manual_seed(1))
    assert keeps_bits(vae, draws_of(vae), x, samples=4) is (kind is VAE)


@pytest.mark.parametrize("widths", [(7,), (33,)])
def test_a_detector_with_odd_widths_scores_a_row_alike_alone_and_in_company(widths, tmp_path):
    rows = np.random.default_rng(0).normal(size=(200, 9))
    gate = BayesianVAE(widths=widths, statistic="ess", **QUICK).fit(rows)
    scores = gate.score_samples(rows)
    alone = np.concatenate([gate.score_samples(rows[n : n + 1]) for n in range(30)])
    np.testing.assert_array_equal(alone, scores[:30])
    np.testing.assert_array_equal(gate.score_samples(rows[::-1]), scores[::-1])
    gate.save(tmp_path / "gate")
    again = BayesianVAE.load(tmp_path / "gate", device="cpu")
    assert again.one_a_call_ is gate.one_a_call_
    np.testing.assert_array_equal(again.score_samples(rows[5:9]), scores[5:9])


def test_without_examples_a_loaded_detector_is_tried_with_made_up_inputs(tmp_path):
    rows = np.random.default_rng(0).normal(size=(60, 5))
    pictures = np.random.default_rng(0).integers(0, 256, (60, 9, 11), dtype=np.uint8)
    for inputs in (rows, pictures):
        gate = BayesianVAE(examples=0, **QUICK).fit(inputs)
        gate.save(tmp_path / "gate")
        again = BayesianVAE.load(tmp_path / "gate", device="cpu")
        np.testing.assert_array_equal(again.score_samples(inputs), gate.score_samples(inputs))
