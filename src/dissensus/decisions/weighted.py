r"""Conformal p-values where inputs are known to come from a shifted distribution.

If calibration inputs come from a density p and new normal inputs from q, and w(x) = q(x)/p(x) is known up to
a factor, then every calibration input counts with its weight (Tibshirani, Barber, Candès and Ramdas 2019,
"Conformal prediction under covariate shift"):

.. math:: p(x) = \frac{\sum_i w_i 1[s_i \ge s] + w(x)}{\sum_i w_i + w(x)}

and P(p ≤ t) ≤ t for every t, on average over calibration sets, as for :func:`conformal_p_values`. With equal
weights they are the same. The weights must come from knowledge or from other data, never from the scores.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dissensus.decisions.conformal import rounded
from dissensus.errors import DataError

__all__ = ["effective_size", "weighted_p_values"]


def weighted_p_values(
    calibration: ArrayLike, scores: ArrayLike, calibration_weights: ArrayLike, weights: ArrayLike
) -> NDArray[np.float64]:
    """Return p-values (N,) of weighted scores (N,) among weighted calibration scores (n,).

    Scores are :func:`rounded`, higher = more unusual. A weight says how much more frequent such an input is
    now than it was among the calibration inputs; only ratios of weights matter.

    >>> weighted_p_values([1.0, 2.0, 3.0], [2.5, 2.5], [1, 1, 2], [1, 4])
    array([0.6 , 0.75])
    """
    reference, tested = rounded(calibration), rounded(scores)
    own = _checked(calibration_weights, "calibration_weights", reference.shape)
    new = _checked(weights, "weights", tested.shape)
    if not own.any():
        raise DataError("calibration_weights are all 0: no calibration input could occur after the shift")
    # Only ratios matter; so scaled, no sum of weights overflows.
    largest = max(own.max(), new.max(initial=0.0))
    own, new = own / largest, new / largest
    order = np.argsort(reference, kind="stable")
    # Summed from the top, so that a small mass is not the difference of two large ones.
    at_or_above = np.append(np.cumsum(own[order][::-1])[::-1], 0.0)
    mass = at_or_above[np.searchsorted(reference[order], tested, side="left")]
    return np.asarray((mass + new) / (at_or_above[0] + new), dtype=np.float64)


def effective_size(calibration_weights: ArrayLike) -> float:
    """(Σw)²/Σw²: as many calibration inputs of equal weight would be as good, roughly; the cost of a shift.

    >>> effective_size([1, 1, 1, 1]), effective_size([1, 0, 0, 0])
    (4.0, 1.0)
    """
    own = _checked(calibration_weights, "calibration_weights", np.shape(calibration_weights))
    if not own.any():
        return 0.0
    own = own / own.max()
    return float(own.sum() ** 2 / (own**2).sum())


def _checked(weights: ArrayLike, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    values = np.asarray(weights, dtype=np.float64)
    if values.ndim != 1 or values.shape != shape:
        raise DataError(f"{name} must be one number for each score, {shape}, got shape {values.shape}")
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise DataError(f"{name} must be finite and not negative")
    return values
