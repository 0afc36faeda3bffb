"""Numbers in order: counted against brute force, and never moved one by one among many."""

import math

import numpy as np
import pytest

from dissensus.decisions import ranked
from dissensus.decisions.ranked import Ranked


@pytest.mark.parametrize("begun_with", [0, 3, 700])
def test_counts_are_those_of_brute_force(monkeypatch, begun_with):
    monkeypatch.setattr(ranked, "RECENT", 8)
    random = np.random.default_rng(begun_with)
    numbers = random.integers(0, 40, begun_with + 500).astype(float)  # with many ties
    found = Ranked(np.sort(numbers[:begun_with]))
    for size in range(begun_with, len(numbers)):
        before, value = numbers[:size], numbers[size]
        assert len(found) == size
        assert (found.below(value), found.up_to(value)) == ((before < value).sum(), (before <= value).sum())
        found.add(value)
    np.testing.assert_array_equal(found.ordered(), np.sort(numbers))


def test_infinite_scores_have_a_place():
    found = Ranked(np.array([-np.inf, 0.0, np.inf]))
    found.add(np.inf)
    assert (found.below(np.inf), found.up_to(np.inf), found.below(-np.inf)) == (2, 4, 0)


def test_runs_are_few_and_newcomers_move_among_few(monkeypatch):
    monkeypatch.setattr(ranked, "RECENT", 16)
    found = Ranked(np.arange(5.0))
    for value in range(16 * 1000):
        found.add(-float(value))  # each would move all that came before it
    assert len(found._runs) <= math.log2(1000) + 2
    assert len(found._recent) < 16
