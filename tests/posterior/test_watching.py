"""Chains are looked at side by side, and what is seen of them is the same."""

import threading

import pytest
import torch

from dissensus.models import build_vae
from dissensus.posterior import SamplingSettings
from dissensus.posterior.chain import Chain
from dissensus.posterior.watching import HeldOut, watch, watch_all
from dissensus.torch_threads import torch_threads


@pytest.fixture
def chains():
    random = torch.Generator().manual_seed(0)
    data = torch.randint(0, 256, (96, 1, 8, 8), generator=random, dtype=torch.uint8)
    vae = build_vae((1, 8, 8), latent_size=3, widths=(8,), generator=torch.Generator().manual_seed(1))
    settings = SamplingSettings.variant_1(epochs=2, chains=3, batch_size=24)
    return [Chain(vae, settings, data, index, 7) for index in (4, 5, 6)]


@pytest.fixture
def held_out():
    random = torch.Generator().manual_seed(2)
    inputs = torch.randint(0, 256, (20, 1, 8, 8), generator=random, dtype=torch.uint8)
    return HeldOut(inputs, torch.randn(4, 3, generator=random))


STARTS = dict.fromkeys((4, 5, 6), -600.0)
TRACE = torch.tensor([[0.0, 0.0], [0.0, 0.0], [0.0, torch.nan]])  # the last one ran away


@pytest.mark.parametrize("threads", [1, 2])
def test_every_chain_is_seen_as_it_is_alone(chains, held_out, threads):
    with torch_threads(1):
        alone = [watch(c, 1, t, STARTS[c.index], held_out) for c, t in zip(chains, TRACE, strict=True)]
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        found = watch_all(chains, 1, TRACE, STARTS, held_out, threads=threads)
    finally:
        torch.set_num_threads(before)
    assert [one.wrong for one in found] == [one.wrong for one in alone]
    assert [one.wrong is None for one in found] == [True, True, False]
    assert found[2].log_likelihood is None
    for one, other in zip(found[:2], alone, strict=False):
        assert torch.equal(one.log_likelihood, other.log_likelihood)


def test_where_operations_would_be_divided_chains_are(chains, held_out, monkeypatch):
    """Each has a thread that does not share its operations: nobody waits for another core."""
    met, seen = threading.Barrier(2, timeout=60), []

    def look(self, x, noise):
        met.wait()  # two at once, or this raises
        seen.append(torch.get_num_threads())
        return torch.zeros(len(x))

    monkeypatch.setattr(Chain, "held_out_log_likelihood", look)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        watch_all(chains[:2], 1, TRACE[:2], STARTS, held_out, threads=2)
    finally:
        torch.set_num_threads(before)
    assert seen == [1, 1]


def test_nothing_is_held_out(chains):
    assert watch_all(chains[:2], 1, TRACE[:2], STARTS, None, threads=2) == [(None, None), (None, None)]
