"""How many outliers are found when few of those flagged may be false."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.decimals import short
from dissensus.decisions import benjamini_hochberg, conformal_p_values

__all__ = [
    "COUNTS",
    "FALSE_ALARM_RATE",
    "FALSE_DISCOVERY_RATE",
    "MIX",
    "OUTLIER_SHARE",
    "Power",
    "discovery_power",
    "mean_power",
    "shown_power",
]

FALSE_ALARM_RATE = 0.05
FALSE_DISCOVERY_RATE = 0.1
OUTLIER_SHARE = 0.1

MIX = (
    f"{OUTLIER_SHARE:.0%} outliers among test inliers; all outliers are used once, divided into as few equal "
    "mixes as that share allows, each with inliers drawn at random; one calibration set for all"
)
"""What is tested, in words."""


COUNTS = (
    f"A power counts only where the realised share is at most {short(FALSE_DISCOVERY_RATE, 2)}. Where it is "
    "more, the power stands in square brackets, and means take it for 0. –: not measured"
)
"""When a power is one, in words."""


class Power(NamedTuple):
    """Of Benjamini–Hochberg on conformal p-values from one calibration set."""

    found: float
    """Share of the outliers that are flagged, in [0, 1]."""
    false: float
    """Share of inliers among the flagged, the mean over mixes; 0 where nothing is flagged."""
    alarms: float | None = None
    """Share of test inliers with p ≤ .05; None in records that are older than this column."""

    @property
    def counts(self) -> bool:
        """Whether no more is false than was asked for. Nothing is allowed for chance."""
        return self.false <= FALSE_DISCOVERY_RATE

    @property
    def counted(self) -> float:
        """The share found, or 0 where it does not count."""
        return self.found if self.counts else 0.0


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
    return Power(found / len(p_out), float(np.mean(false)), float(np.mean(p_in <= FALSE_ALARM_RATE)))


def mean_power(powers: Iterable[Power | None], *, counted: bool = False) -> Power | None:
    """The mean of each part, None where a part was not measured everywhere.

    With ``counted``, a power that does not count is 0: the mean over what differs in more than the seed.

    >>> mean_power([Power(0.5, 0.1), Power(0.9, 0.2)], counted=True).found, mean_power([Power(1, 0), None])
    (0.25, None)
    """
    own = list(powers)
    known = [power for power in own if power is not None]
    if not known or len(known) < len(own):
        return None
    alarms = [power.alarms for power in known if power.alarms is not None]
    return Power(
        fmean(power.counted if counted else power.found for power in known),
        fmean(power.false for power in known),
        fmean(alarms) if len(alarms) == len(known) else None,
    )


def shown_power(power: Power | None, digits: int = 3, *, of_many: bool = False) -> str:
    """The share found and the realised false share, as :data:`COUNTS` says.

    >>> shown_power(Power(0.786, 0.08)), shown_power(Power(0.786, 0.17), 2), shown_power(None)
    ('.786 (.080)', '[.79] (.170)', '–')
    """
    if power is None:
        return "–"
    found, false = short(power.found, digits), short(power.false)
    return f"{found} ({false})" if power.counts or of_many else f"[{found}] ({false})"
