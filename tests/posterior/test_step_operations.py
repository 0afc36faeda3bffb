"""How many operations a step takes: a step on a GPU is a recording of just these kernels, replayed.

One more operation is one more kernel of every step of every chain, so the count is held. What only makes a
view of memory, or sets memory aside, launches no kernel and is not counted.
"""

from collections import Counter

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from dissensus.models import build_vae
from dissensus.posterior import SamplingSettings
from dissensus.posterior.chain import Chain
from dissensus.torch_threads import torch_threads

MEMORY = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "_unsafe_view"}


class Kernels(TorchDispatchMode):
    """Counts the operations that work on numbers, by name."""

    def __init__(self):
        super().__init__()
        self.counts = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        if not func.is_view and name not in MEMORY:
            self.counts[name] += 1
        return func(*args, **(kwargs or {}))


@pytest.fixture
def chain():
    """A chain of the default VAE for pictures of 28 × 28, in whole batches, as on a GPU."""
    random = torch.Generator().manual_seed(0)
    pictures = torch.randint(0, 256, (32, 1, 28, 28), generator=random).byte()
    own = Chain(
        build_vae((1, 28, 28), generator=random),
        SamplingSettings.variant_1(epochs=3, burn_in=1, batch_size=16, chains=1),
        pictures,
        index=0,
        seed=0,
    )
    own.shares = 1
    return own


@pytest.mark.parametrize(("epoch", "adapts", "recorded"), [(1, True, 120), (2, False, 110)])
def test_a_step_takes_no_more_operations_than_are_recorded_here(chain, epoch, adapts, recorded):
    with torch_threads(1):
        first, second = chain.begin_epoch(epoch)
        assert chain.adapt is adapts
        chain.step(first)  # the first step may set up what the others use
        with Kernels() as kernels:
            chain.step(second)
    assert kernels.counts.total() == recorded, kernels.counts


def test_views_and_empty_memory_do_not_count():
    x = torch.ones(4, 6)
    with Kernels() as kernels:
        _ = x.view(6, 4)[1:, None].expand(5, 3, 4).transpose(0, 1).detach(), x.T, torch.empty_like(x)
        _ = x.split(2), x.unbind(), x.new_empty(3)
        assert not kernels.counts
        _ = x + 1
    assert kernels.counts == {"add": 1}
