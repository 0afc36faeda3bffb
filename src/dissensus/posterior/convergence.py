r"""Do chains agree, and how much do they tell? R̂ and effective sample sizes (Vehtari et al. 2021).

Each chain is halved, so that one that still drifts disagrees with itself. Values are replaced by the normal
scores of their ranks, so that neither heavy tails nor a single far chain decide; folded around the median
they are compared once more, so that chains of one centre and other widths are told apart too.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

__all__ = ["LEAST", "LEAST_FOR_SIZE", "bulk_size", "effective_sizes", "rhat", "tail_size"]

LEAST = 4  # values a chain: two a half
LEAST_FOR_SIZE = 10
"""Values a chain. Of fewer the estimate of an effective size sees one lag alone, and always says that all
values are independent, even of chains that lie apart."""


def rhat(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return R̂ (...) of series (C, n, ...): 1 where the chains cannot be told apart.

    >>> steady = np.random.default_rng(0).normal(size=(4, 100))
    >>> bool(rhat(steady) < 1.05), bool(rhat(steady * np.arange(1, 5)[:, None]) > 1.1)
    (True, True)
    """
    halves = _halves(series)
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    return np.maximum(_plain_rhat(_normal_scores(halves)), _plain_rhat(_normal_scores(folded)))


def effective_sizes(series: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many independent values series (C, n, ...) are worth (...): for their centre, for their tails."""
    return bulk_size(series), tail_size(series)


def bulk_size(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """The effective sample size (...) of the normal scores of series (C, n, ...)."""
    return _effective_size(_normal_scores(_halves(series)))


def tail_size(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """The smaller of the effective sample sizes (...) of what lies below the 5% and the 95% quantile."""
    low, high = np.quantile(series, (0.05, 0.95), axis=(0, 1))
    below = [_effective_size(_halves((series <= each).astype(np.float64))) for each in (low, high)]
    return np.minimum(*below)


def _halves(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """(2C, n // 2, ...); the middle one of an odd number of values belongs to no half."""
    count = series.shape[1]
    if count < LEAST:
        raise ValueError(f"chains are compared by at least {LEAST} values each, got {count}")
    return np.concatenate([series[:, : count // 2], series[:, count - count // 2 :]])


def _normal_scores(halves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each value by the normal quantile of its rank among all of (C, n, ...)."""
    from scipy.stats import rankdata  # takes half a second to import

    flat = halves.reshape(-1, *halves.shape[2:])
    ranks = rankdata(flat, axis=0)
    scores: NDArray[np.float64] = ndtri((ranks - 0.375) / (len(flat) + 0.25))
    return scores.reshape(halves.shape)


def _plain_rhat(halves: NDArray[np.float64]) -> NDArray[np.float64]:
    """From the variances within and between halves (C, n, ...)."""
    count = halves.shape[1]
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.sqrt((count - 1) / count + between / within)
    # Values that never move, equal in all chains, agree perfectly.
    return np.where((within == 0) & (between == 0), 1.0, found)


def _effective_size(halves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of series (C, n, ...), by Geyer's initial monotone sequence of their autocorrelations."""
    chains, count = halves.shape[:2]
    flat = halves.reshape(chains, count, -1)
    found = np.array([_one_effective_size(flat[:, :, place]) for place in range(flat.shape[2])])
    return found.reshape(halves.shape[2:])


def _one_effective_size(halves: NDArray[np.float64]) -> float:
    """Of one quantity (C, n)."""
    chains, count = halves.shape
    total = float(chains * count)
    if np.ptp(halves) == 0:
        return total
    covariance = _autocovariance(halves).mean(axis=0)
    within = covariance[0] * count / (count - 1)
    mixed = covariance[0] + halves.mean(axis=1).var(ddof=1)
    correlation = 1 - (within - covariance) / mixed
    correlation[0] = 1.0
    pairs = correlation[: 2 + 2 * max(0, (count - 3) // 2)].reshape(-1, 2).sum(axis=1)
    # The sums of neighbours of a reversible chain are positive and fall: from where they do not, it is noise.
    last = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else len(pairs) - 1
    falling = np.minimum.accumulate(pairs[:last])
    time = -1 + 2 * float(falling.sum()) + max(0.0, float(correlation[2 * last]))
    # No more than this can be told from so few values, however strongly neighbours repel each other.
    return total / max(time, 1 / math.log10(total))


def _autocovariance(halves: NDArray[np.float64]) -> NDArray[np.float64]:
    """(C, n) by lag, through the spectrum."""
    count = halves.shape[1]
    centred = halves - halves.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * count, axis=1)
    found: NDArray[np.float64] = np.fft.irfft(spectrum * spectrum.conj(), n=2 * count, axis=1) / count
    return found[:, :count]
