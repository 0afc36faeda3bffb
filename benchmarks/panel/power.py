"""How many outliers are found when few of those flagged may be false."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dissensus.decisions import benjamini_hochberg, conformal_p_values

__all__ = ["FALSE_DISCOVERY_RATE", "MIX", "OUTLIER_SHARE", "Power", "discovery_power"]

FALSE_DISCOVERY_RATE = 0.1
OUTLIER_SHARE = 0.1

MIX = (
    f"{OUTLIER_SHARE:.0%} outliers among test inliers; all outliers are used once, divided into as few equal "
    "mixes as that share allows, each with inliers drawn at random; one calibration set for all"
)
"""What is tested, in words."""


class Power(NamedTuple):
    """Of Benjamini–Hochberg on conformal p-values."""

    found: float
    """Share of the outliers that are flagged, in [0, 1]."""
    false: float
    """Share of inliers among the flagged, the mean over mixes; 0 where nothing is flagged."""


def discovery_power(
    calibration: NDArray[np.float64],
    inliers: NDArray[np.float64],
    outliers: NDArray[np.float64],
    rng: np.random.Generator,
    *,
    fdr: float = FALSE_DISCOVERY_RATE,
    share: float = OUTLIER_SHARE,
) -> Power:
    """Power at a false discovery rate, from scores (n,), (N_in,) and (N_out,); higher = more unusual.

    The mixes are those of :data:`MIX`. AUROC does not see the tail of the inliers that decides here.

    >>> scores = np.arange(1000.0)
    >>> discovery_power(scores, scores, scores + 2000, np.random.default_rng(0)).found
    1.0
    """
    p_in, p_out = (conformal_p_values(calibration, scores) for scores in (inliers, outliers))
    most = max(1, int(len(inliers) * share / (1 - share)))
    found, false = 0, []
    for part in np.array_split(rng.permutation(p_out), math.ceil(len(p_out) / most)):
        among = rng.choice(p_in, min(len(p_in), round(len(part) * (1 - share) / share)), replace=False)
        flagged = benjamini_hochberg(np.concatenate([part, among]), fdr).flagged
        hits = int(flagged[: len(part)].sum())
        found += hits
        false.append((int(flagged.sum()) - hits) / max(1, int(flagged.sum())))
    return Power(found / len(p_out), float(np.mean(false)))
