"""Chains on threads of their own walk as they do one after the other."""

import os
import threading

import pytest
import torch

from dissensus.models import build_vae
from dissensus.posterior import SamplingSettings
from dissensus.posterior.chain import Chain
from dissensus.posterior.engines import EagerEngine, engine_for
from dissensus.posterior.engines.threaded import ThreadedEngine
from dissensus.posterior.steady_memory import steady_memory


@pytest.fixture
def data():
    random = torch.Generator().manual_seed(0)
    return torch.randint(0, 256, (96, 1, 8, 8), generator=random, dtype=torch.uint8)


def chains_of(data, chains, **settings):
    vae = build_vae((1, 8, 8), latent_size=3, widths=(8,), generator=torch.Generator().manual_seed(1))
    every = SamplingSettings.variant_1(epochs=2, chains=chains, batch_size=24, **settings)
    return [Chain(vae, every, data, index, 7) for index in range(chains)]


@pytest.mark.parametrize("chains", [2, 3])
def test_the_same_trajectories(data, two_cores, chains):
    plain, threaded = chains_of(data, chains), chains_of(data, chains)
    torch.set_num_threads(1)  # what each of two threads gets
    expected = [EagerEngine(plain).run_epoch(epoch) for epoch in (1, 2)]
    torch.set_num_threads(2)
    found = [ThreadedEngine(threaded).run_epoch(epoch) for epoch in (1, 2)]
    assert torch.get_num_threads() == 2
    for one, other in zip(expected, found, strict=True):
        assert torch.equal(one, other)
    for one, other in zip(plain, threaded, strict=True):
        for name, tensor in one.tensors().items():
            assert torch.equal(tensor, other.tensors()[name]), name


def test_used_where_it_pays(data, two_cores, monkeypatch):
    monkeypatch.setattr("dissensus.posterior.step_work.LEAST_PICTURE_WORK", 0)
    assert isinstance(engine_for(chains_of(data, 2)), ThreadedEngine)
    assert isinstance(engine_for(chains_of(data, 1)), EagerEngine)
    torch.set_num_threads(1)
    assert isinstance(engine_for(chains_of(data, 2)), EagerEngine)
    torch.set_num_threads(2)
    monkeypatch.undo()
    assert isinstance(engine_for(chains_of(data, 2)), EagerEngine)  # too little work in a step


def test_an_error_stops_all_chains(data, two_cores):
    chains = chains_of(data, 2)
    steps = []

    def fail(rows):
        raise RuntimeError("lost")

    step = chains[1].step
    chains[0].step = fail
    chains[1].step = lambda rows: steps.append(rows) or step(rows)
    before = threading.active_count()
    with pytest.raises(RuntimeError, match="lost"):
        ThreadedEngine(chains).run_epoch(1)
    assert threading.active_count() == before
    assert torch.get_num_threads() == 2


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux")  # noqa: PTH110
def test_memory_goes_back_to_the_system():
    def resident():
        with open("/proc/self/statm") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    before = resident()
    with steady_memory():
        with steady_memory():
            pass
        pieces = [torch.ones(1 << 18) for _ in range(200)]  # 200 MiB, each too small to be mapped on its own
        del pieces
    assert resident() - before < 50 << 20
