"""Copies of a VAE are reused, never shared, and never stale."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import nn

from dissensus.likelihood import log_likelihoods
from dissensus.likelihood.full_precision import full_precision
from dissensus.likelihood.workspace import workspace
from dissensus.models import VAE, Gaussian, build_vae
from dissensus.posterior import PartDraws, WeightDraws

CPU = torch.device("cpu")


def small_vae(seed=0):
    return build_vae((4,), latent_size=2, widths=(3,), generator=torch.Generator().manual_seed(seed))


def test_a_copy_is_used_again_but_never_by_two_at_once():
    vae = small_vae()
    with workspace(vae, CPU) as first, workspace(vae, CPU) as second:
        assert len({id(vae), id(first), id(second)}) == 3
    with workspace(vae, CPU) as again:
        assert again is first or again is second


def test_an_error_gives_the_copy_back():
    vae = small_vae()
    try:
        with workspace(vae, CPU) as first:
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    with workspace(vae, CPU) as again:
        assert again is first


def test_copies_go_with_their_vae():
    vae = small_vae()
    with workspace(vae, CPU) as own:
        gone = weakref.ref(own)
    del own, vae
    gc.collect()
    assert gone() is None


def test_an_exchanged_network_is_seen(draws_of):
    vae, x = small_vae(), torch.rand(5, 4)
    log_likelihoods(vae, draws_of([vae]), x, samples=2)
    vae.decoder = small_vae(1).decoder
    changed = log_likelihoods(vae, draws_of([vae]), x, samples=2).values
    fresh = small_vae()
    fresh.decoder = small_vae(1).decoder
    assert np.array_equal(changed, log_likelihoods(fresh, draws_of([fresh]), x, samples=2).values)


def test_what_is_frozen_may_change_between_calls(draws_of):
    class Shifted(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(2, 4)
            self.register_buffer("shift", torch.zeros(4))

        def forward(self, z):
            return self.linear(z) + self.shift

    torch.manual_seed(0)
    vae = VAE(nn.Linear(4, 4), Shifted(), Gaussian(scale=1.0), (4,), 2)
    draws, x = draws_of([vae]), torch.rand(5, 4)
    before = log_likelihoods(vae, draws, x, samples=2).values
    vae.decoder.shift += 1
    after = log_likelihoods(vae, draws, x, samples=2).values
    vae.decoder.shift -= 1
    assert (before != after).all()
    assert np.array_equal(log_likelihoods(vae, draws, x, samples=2).values, before)


def test_many_threads_score_as_one(image_vaes, images, draws_of):
    draws = draws_of(image_vaes)
    expected = log_likelihoods(image_vaes[0], draws, images, samples=4).values
    start = threading.Barrier(8)

    def score(number):
        start.wait()
        own = [(number * 3 + step) % len(images) for step in range(6)]
        return [(n, log_likelihoods(image_vaes[0], draws, images[n : n + 1], samples=4).values) for n in own]

    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(score, range(8)):
            for n, values in found:
                np.testing.assert_allclose(values[:, 0], expected[:, n], rtol=1e-6)


def test_precision_comes_back_when_the_last_one_is_done():
    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = True
    try:
        first, second = full_precision(), full_precision()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert not torch.backends.cudnn.allow_tf32
        second.__exit__(None, None, None)
        assert torch.backends.cudnn.allow_tf32
    finally:
        torch.backends.cudnn.allow_tf32 = before


def _moved(stack, floats):
    """The same numbers, so many floats further on in memory."""
    room = torch.empty(stack.numel() + floats)
    room[floats:] = stack.flatten()
    return room[floats:].view(stack.shape)


def test_where_weights_lie_in_memory_does_not_matter():
    """In a file they lie elsewhere than in memory, and kernels round otherwise at another alignment."""
    vae = build_vae((1, 28, 28), generator=torch.Generator().manual_seed(0))
    images = torch.randint(0, 256, (16, 1, 28, 28), generator=torch.Generator().manual_seed(1)).byte()
    three = np.arange(3)

    def matrix(floats):
        """Of weights that lie so many floats further on than where torch puts them."""
        parts = {}
        for part, network in vae.parts().items():
            scaled = {
                name: torch.stack([p.detach() * scale for scale in (1.0, 1.1, 1.2)])
                for name, p in network.named_parameters()
            }
            stacks = {name: _moved(stack, floats) if floats else stack for name, stack in scaled.items()}
            parts[part] = PartDraws(stacks, three)
        return log_likelihoods(vae, WeightDraws(parts, three, three), images, samples=16, seed=0).values

    expected = matrix(0)
    for floats in (1, 2, 14):
        np.testing.assert_array_equal(matrix(floats), expected)
