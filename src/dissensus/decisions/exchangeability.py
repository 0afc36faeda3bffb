"""Do recent normal inputs score like the calibration inputs? Every promise of an error rate rests on it.

Two questions are asked of the n calibration scores and the m recent ones: do the recent ones score higher or
lower as a whole (a rank-sum test of both sides), and do more of them lie above the threshold than chance
explains (their number is beta-binomial)? The second sees what the first cannot, a longer tail. Both tests are
valid for any n and m if all n + m scores are exchangeable, and so is twice the smaller of their p-values:
P(p ≤ t) ≤ t.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from numpy.typing import ArrayLike

from dissensus.decisions.batch import batch_test
from dissensus.decisions.conformal import allowed_alarms, conformal_threshold, rounded
from dissensus.decisions.threshold import chance_of_alarms
from dissensus.errors import SettingsError

__all__ = ["Exchangeability", "Shift", "check_exchangeable"]

Shift: TypeAlias = Literal["none", "higher", "lower", "longer-tail"]
REMEDY = "recalibrate on such inputs: dissensus calibrate GATE DATA, or gate.recalibrate(X)"
LARGE = 0.1  # a shift that moves the share of pairs by as much as this is a large one
DEVIATIONS = 2.8  # how far the share of pairs has to move to show at a p-value of 0.01: 0.005 on both sides


@dataclass(frozen=True)
class Exchangeability:
    """Whether recent inputs score like the calibration inputs, and what to do if they do not."""

    p_value: float
    """How often inputs like the calibration inputs look at least as odd; small where there is a shift."""
    shift: Shift
    """``none`` where the p-value is above ``level``, which is no proof that there is none."""
    scores_higher: float
    """How often a recent input scores above a calibration input; 0.5 where they are alike."""
    above: int
    """How many recent inputs score above the threshold."""
    expected_above: float
    """How many would on average, of as many inputs like the calibration inputs."""
    recent_inputs: int
    calibration_inputs: int
    level: float

    @property
    def exchangeable(self) -> bool:
        """Whether no shift was found."""
        return self.shift == "none"

    @property
    def sentence(self) -> str:
        """Return the answer for a person, with the remedy."""
        pairs, p = f"in {self.scores_higher:.0%} of pairs", _chance(self.p_value)
        lie = "lies" if self.above == 1 else "lie"
        above = f"{self.above:,} of {self.recent_inputs:,} {lie} above the threshold"
        usual = f"{self.expected_above:,.0f}" if self.expected_above >= 10 else f"{self.expected_above:.2g}"
        counts = f"{above}, where about {usual} would"
        match self.shift:
            case "higher":
                many = self.above > self.expected_above
                alarms = "raises too many false alarms" if many else "may soon raise too many false alarms"
                return (
                    f"These inputs score higher than the calibration inputs did ({pairs}; {p}): {counts}. If "
                    f"they are normal, the gate {alarms}; {REMEDY}."
                )
            case "lower":
                return (
                    f"These inputs score lower than the calibration inputs did (higher {pairs}; {p}): "
                    f"{counts}. If they are normal, the gate could flag more outliers at the same "
                    f"false-alarm rate; {REMEDY}."
                )
            case "longer-tail":
                return (
                    f"More of these inputs lie above the threshold than chance explains ({p}): {counts}. If "
                    f"they are normal, the gate raises too many false alarms; {REMEDY}."
                )
        few = " With so few inputs only a large shift would show." if self._few else ""
        return f"These inputs score like the calibration inputs ({p}): {counts}. No shift is seen.{few}"

    def to_dict(self) -> dict[str, Any]:
        """The numbers and the sentence as JSON values."""
        return {**asdict(self), "exchangeable": self.exchangeable, "sentence": self.sentence}

    @property
    def _few(self) -> bool:
        """Whether only large shifts would show: the share of pairs has a variance of (n + m + 1)/(12 n m)."""
        n, m = self.calibration_inputs, self.recent_inputs
        return DEVIATIONS * math.sqrt((n + m + 1) / (12 * n * m)) > LARGE


def _chance(p: float) -> str:
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"


def check_exchangeable(
    calibration: ArrayLike,
    recent: ArrayLike,
    false_alarm_rate: float,
    *,
    level: float = 0.01,
    resamples: int = 999,
    seed: int = 0,
) -> Exchangeability:
    """Tests whether scores (m,) of recent normal inputs are like the calibration scores (n,).

    ``level`` is how often a shift is seen where there is none. ``resamples`` and ``seed`` are those of
    :func:`batch_test`; the smallest p-value of its part is 2/(resamples + 1).

    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> found = check_exchangeable(random.normal(size=300), random.normal(size=100) + 0.7, 0.05)
    >>> found.shift, found.p_value
    ('higher', 0.002)
    """
    if not 0 < level < 1:
        raise SettingsError(f"level must lie between 0 and 1, got {level}")
    reference, tested = rounded(calibration), rounded(recent)
    shifted = batch_test(reference, tested, alternative="shifted", resamples=resamples, seed=seed)
    n, m = shifted.calibration_size, shifted.batch_size
    above = int((tested > conformal_threshold(reference, false_alarm_rate)).sum())
    tail = chance_of_alarms(n, false_alarm_rate, tests=m, alarms=above)
    # Of two tests either may speak: their p-values count twice.
    p_value = min(1.0, 2 * min(shifted.p_value, tail))
    return Exchangeability(
        p_value,
        _shift(2 * shifted.p_value <= level, 2 * tail <= level, shifted.statistic),
        shifted.statistic,
        above,
        m * allowed_alarms(n, false_alarm_rate) / (n + 1),
        m,
        n,
        level,
    )


def _shift(shifted: bool, longer_tail: bool, scores_higher: float) -> Shift:
    if shifted and scores_higher > 0.5:
        return "higher"
    # Lower on the whole and yet too many alarms: the alarms are what a person has to know of.
    if longer_tail:
        return "longer-tail"
    return "lower" if shifted else "none"
