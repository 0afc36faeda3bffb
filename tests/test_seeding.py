"""Named streams: fixed for ever, independent of each other and of every global state."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dissensus.seeding import numpy_stream, stream_seed, torch_stream

NAMES = st.tuples(
    st.text(st.characters(codec="utf-8", exclude_characters="/"), min_size=1, max_size=5), st.integers(0, 50)
)


def test_seeds_are_fixed_for_ever():
    """A saved detector scores with its seed's noise: these may never change."""
    assert stream_seed(0, "scoring noise") == 616374348402680592
    assert stream_seed(0, "chain", 1) == 2067630025610731763
    assert stream_seed(-3) == 3507721969337022401


@settings(derandomize=True, deadline=None)
@given(st.integers(-(2**70), 2**70), NAMES)
def test_a_seed_fits_numpy_and_torch(root, name):
    seed = stream_seed(root, *name)
    assert 0 <= seed < 2**63
    assert seed == stream_seed(root, *name)
    torch.Generator().manual_seed(seed)


@settings(derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), NAMES), min_size=2, max_size=20, unique=True))
def test_other_names_give_other_seeds(streams):
    assert len({stream_seed(root, *name) for root, name in streams}) == len(streams)


def test_streams_repeat_and_ignore_the_global_states():
    first = numpy_stream(3, "a").normal(size=5), torch.randn(5, generator=torch_stream(3, "a"))
    np.random.seed(1)  # noqa: NPY002 the global state is what this is about
    torch.manual_seed(1)
    second = numpy_stream(3, "a").normal(size=5), torch.randn(5, generator=torch_stream(3, "a"))
    np.testing.assert_array_equal(first[0], second[0])
    assert torch.equal(first[1], second[1])


def test_taking_a_stream_leaves_the_global_states():
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    torch.randn(5, generator=torch_stream(0, "x"))
    numpy_stream(0, "x").normal(size=5)
    assert torch.equal(before[0], torch.get_rng_state())
    np.testing.assert_array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("draw", ["numpy", "torch"])
def test_neighbouring_streams_are_uncorrelated(draw):
    def normals(index):
        if draw == "numpy":
            return numpy_stream(0, "chain", index).normal(size=2000)
        return torch.randn(2000, generator=torch_stream(0, "chain", index), dtype=torch.float64).numpy()

    streams = np.stack([normals(index) for index in range(8)])
    correlations = np.corrcoef(streams)[np.triu_indices(8, 1)]
    # 28 of them, each about N(0, 1/2000).
    assert np.abs(correlations).max() < stats.norm.isf(1e-4 / 28) / np.sqrt(2000)
