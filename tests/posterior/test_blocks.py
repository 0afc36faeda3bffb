"""Inputs that are read by blocks: each once an epoch, the same for the same seed, never too many at once."""

import numpy as np
import pytest
import torch

from dissensus.posterior import BlockData, SamplingSettings, sample_posterior
from dissensus.posterior.engines import DividedEngine, EagerEngine, ThreadedEngine


def blocks_of(data, block, window, reads=None):
    def read(start, stop):
        if reads is not None:
            reads.append((start, stop))
        return data[start:stop]

    return BlockData(read, tuple(data.shape), block, window, "digest", torch.device("cpu"))


def seen_in(data, seed, batch):
    window, seen = None, []
    for now, rows in data.epoch(torch.Generator().manual_seed(seed), batch):
        window = now if now is not None else window
        assert len(window) <= data.window
        seen.append(window[rows])
    return seen


@pytest.mark.parametrize(("block", "window", "batch"), [(7, 20, 5), (1, 10, 10), (100, 15, 5), (3, 500, 20)])
def test_every_input_comes_once_in_an_epoch(block, window, batch):
    reads = []
    seen = seen_in(blocks_of(torch.arange(103), block, window, reads), 0, batch)
    assert all(len(each) == batch for each in seen)
    found = torch.cat(seen).tolist()
    assert len(found) == len(set(found)) == 103 // batch * batch
    assert sorted(place for start, stop in reads for place in range(start, stop)) == list(range(103))


def test_the_order_is_a_function_of_the_seed_and_mixes_blocks():
    data = blocks_of(torch.arange(1000), 10, 200)
    first, again, other = (torch.cat(seen_in(data, seed, 20)).tolist() for seed in (0, 0, 1))
    assert first == again != other
    assert len({place // 10 for place in first[:20]}) > 5  # a batch is of many blocks


def test_an_epoch_that_is_left_ends_its_reading():
    epoch = blocks_of(torch.arange(1000), 10, 200).epoch(torch.Generator(), 20)
    next(epoch)
    epoch.close()


@pytest.mark.parametrize("engine", [EagerEngine, ThreadedEngine, DividedEngine])
def test_chains_learn_alike_whatever_runs_their_steps(vectors, vector_vae, monkeypatch, engine):
    settings = SamplingSettings.variant_1(epochs=3, burn_in=2, chains=2, batch_size=50)
    monkeypatch.setattr("dissensus.posterior.driver.engine_for", engine)
    data = blocks_of(vectors, 9, 100)
    draws = sample_posterior(vector_vae, data, settings, seed=0, held_out=vectors[:9])
    monkeypatch.setattr("dissensus.posterior.driver.engine_for", EagerEngine)
    again = sample_posterior(vector_vae, data, settings, seed=0, held_out=vectors[:9])
    for name, stack in again.parts["decoder"].stacks.items():
        np.testing.assert_array_equal(stack, draws.parts["decoder"].stacks[name])
