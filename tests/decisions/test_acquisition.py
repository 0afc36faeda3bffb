import numpy as np
import pytest

from dissensus.decisions import most_informative
from dissensus.errors import DataError, SettingsError


def test_is_the_greedy_choice_that_the_equation_says():
    matrix = np.random.default_rng(0).normal(size=(4, 30)) * np.linspace(0.1, 3, 30)
    columns = matrix - matrix.mean(0)
    columns -= columns.mean(1, keepdims=True)
    noise, sigma, expected = np.median((columns**2).sum(0)), np.eye(4), []
    for _ in range(8):
        gain = np.array([c @ sigma @ c for c in columns.T])
        gain[expected] = -1
        expected.append(int(gain.argmax()))
        v = sigma @ columns[:, expected[-1]]
        sigma -= np.outer(v, v) / (noise + columns[:, expected[-1]] @ v)
    assert most_informative(matrix, 8).tolist() == expected


def test_no_input_is_chosen_twice_and_equals_come_last():
    matrix = np.repeat(np.random.default_rng(1).normal(size=(3, 5)), 4, axis=1)
    chosen = most_informative(matrix, 20)
    assert sorted(chosen.tolist()) == list(range(20))
    assert len({int(place) // 4 for place in chosen[:5]}) == 5


def test_refuses_what_cannot_be():
    with pytest.raises(SettingsError, match="n must be"):
        most_informative(np.zeros((2, 3)), 4)
    with pytest.raises(DataError, match="matrix"):
        most_informative([[np.nan]], 1)
