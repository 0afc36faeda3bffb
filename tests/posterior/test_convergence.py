"""R̂ and effective sample sizes: those of ArviZ, and told apart what must be."""

import numpy as np
import pytest

from dissensus.posterior import effective_sizes, rhat


def correlated(chains, length, correlation, seed=0):
    """Autoregressive series (C, n) that start anywhere."""
    noise = np.random.default_rng(seed).normal(size=(chains, length))
    series = noise.copy()
    for t in range(1, length):
        series[:, t] = correlation * series[:, t - 1] + noise[:, t]
    return series


@pytest.mark.parametrize("chains", [2, 3, 5])
@pytest.mark.parametrize(("length", "correlation"), [(4, 0.0), (8, 0.2), (37, 0.5), (400, 0.95), (20, -0.4)])
def test_they_are_those_of_arviz(chains, length, correlation):
    base = pytest.importorskip("arviz_stats.base")
    series = correlated(chains, length, correlation, seed=chains)
    axes = {"chain_axis": 0, "draw_axis": 1}
    bulk, tail = effective_sizes(series)
    assert float(rhat(series)) == pytest.approx(float(base.array_stats.rhat(series, method="rank", **axes)))
    assert float(bulk) == pytest.approx(float(base.array_stats.ess(series, method="bulk", **axes)))
    expected = base.array_stats.ess(series, method="tail", prob=(0.05, 0.95), **axes)
    assert float(tail) == pytest.approx(float(expected))


def test_many_quantities_at_once():
    series = np.random.default_rng(0).normal(size=(3, 21, 4, 2)).cumsum(axis=1)
    found, (bulk, tail) = rhat(series), effective_sizes(series)
    assert found.shape == bulk.shape == tail.shape == (4, 2)
    for place in np.ndindex(4, 2):
        one = series[:, :, *place]
        assert found[place] == rhat(one)
        assert (bulk[place], tail[place]) == effective_sizes(one)


def test_what_must_be_told_apart():
    random = np.random.default_rng(0)
    steady = random.normal(size=(4, 500))
    assert rhat(steady) < 1.01
    assert rhat(steady + np.arange(4)[:, None]) > 1.5  # other centres
    assert rhat(steady * np.array([1, 1, 1, 4.0])[:, None]) > 1.1  # one centre, another width
    assert rhat(steady + np.linspace(0, 5, 500)) > 1.4  # all drift together
    # One chain lies 200 nats below the others, and far values do not hide it: they are ranked.
    failed = random.standard_cauchy(size=(4, 100)) * 100
    failed[0] -= 200
    assert rhat(failed) > 1.05
    assert rhat(np.zeros((3, 8))) == 1.0
    assert rhat(np.arange(2.0)[:, None] * np.ones((2, 8))) == np.inf


def test_few_values_are_refused():
    with pytest.raises(ValueError, match="at least 4 values each, got 3"):
        rhat(np.zeros((5, 3)))
