r"""A false-alarm rate that adapts to feedback, and holds in the long run whatever the inputs do.

After each decision about a normal input, with err = 1 if it was flagged and 0 if not, the rate that p-values
are compared with moves (Gibbs and Candès 2021, "Adaptive conformal inference under distribution shift"):

.. math:: \alpha_{t+1} = \alpha_t + \gamma (\alpha - \mathrm{err}_t).

At a rate of 0 or less nothing is flagged, at 1 or more everything, so that the rate never leaves [−γ, 1 + γ].
The sum of these steps is :math:`\alpha_{T+1} - \alpha_1 = \gamma \sum_t (\alpha - \mathrm{err}_t)`, hence

.. math:: \Big|\frac1T \sum_{t=1}^T \mathrm{err}_t - \alpha\Big| \le
   \frac{\max(\alpha_1, 1 - \alpha_1) + \gamma}{\gamma T}

for every sequence of inputs, one that an adversary chose among them: no probability is involved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Self

from dissensus.errors import DataError, SettingsError

__all__ = ["AdaptiveRate"]


class AdaptiveRate:
    """Compares p-values with a rate that feedback about normal inputs keeps honest.

    The promise is about the share of flagged among the normal inputs that feedback came for, in the long
    run; it is none about any one input, nor about outliers. Feedback must not depend on what was flagged: who
    looks at flagged inputs alone never reports a normal one that passed, and drives the rate to 0. Where
    outliers are rare, report what was not flagged as normal.

    Parameters
    ----------
    target
        α: the share of normal inputs that shall be flagged in the long run.
    step
        γ: how far one decision moves the rate. Large ones follow a shift sooner and wander more.
    start
        α₁: the first rate; ``None`` is the target.

    Examples
    --------
    >>> rate = AdaptiveRate(0.05, step=0.01)
    >>> flagged = rate.flags(0.04); flagged
    True
    >>> rate.update(flagged, normal=True)  # a false alarm: the next ones are rarer
    >>> rate.rate, rate.flags(0.045)
    (0.0405, False)
    """

    def __init__(self, target: float, *, step: float = 0.005, start: float | None = None) -> None:
        first = target if start is None else start
        if not 0 < target < 1:
            raise SettingsError(f"target must lie between 0 and 1, got {target}")
        if not 0 < step < math.inf:
            raise SettingsError(f"step must be a number above 0, got {step}")
        if not 0 <= first <= 1:
            raise SettingsError(f"start must lie between 0 and 1, got {first}")
        self.target, self.step, self.start = float(target), float(step), float(first)
        self._normals = self._false_alarms = 0

    @property
    def rate(self) -> float:
        """α_t, which the next p-value is compared with; it may lie a little below 0 or above 1."""
        # From the counts and not step by step, so that nothing adds up however long the stream.
        return self.start + self.step * (self.target * self._normals - self._false_alarms)

    @property
    def normals(self) -> int:
        """T: how many normal inputs feedback has come for."""
        return self._normals

    @property
    def false_alarms(self) -> int:
        """How many of them were flagged."""
        return self._false_alarms

    def flags(self, p_value: float) -> bool:
        """Whether an input with this conformal p-value, in (0, 1], is flagged now."""
        if not 0 < p_value <= 1:
            raise DataError(f"a p-value lies above 0 and is at most 1, got {p_value}")
        # So nothing is flagged at a rate of 0 or less, and everything at 1 or more, as the promise requires.
        return p_value <= self.rate

    def update(self, flagged: bool, normal: bool) -> None:
        """Takes in what turned out about an input that was decided by :meth:`flags`.

        Outliers change nothing: the promise is about normal inputs.
        """
        if normal:
            self._normals += 1
            self._false_alarms += bool(flagged)

    def bound(self, *, waiting: int = 0) -> float:
        """How far the share of false alarms so far can be from the target, at most; infinite at the start.

        ``waiting`` is the largest number of other decisions that were made but not reported yet when a report
        came: B − 1 if batches of B are decided at one rate. Each may move the rate once more past 0 or 1.
        """
        if waiting < 0:
            raise SettingsError(f"waiting must be at least 0, got {waiting}")
        if not self._normals:
            return math.inf
        reach = max(self.start, 1 - self.start) + self.step * (1 + waiting)
        return reach / (self.step * self._normals)

    def state(self) -> dict[str, float | int]:
        """Everything :meth:`restore` needs to go on, as JSON values."""
        return {
            "target": self.target,
            "step": self.step,
            "start": self.start,
            "normals": self._normals,
            "false_alarms": self._false_alarms,
        }

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """The rate that :meth:`state` was taken of; it goes on as if it had never stopped."""
        try:
            made = cls(state["target"], step=state["step"], start=state["start"])
            normals, false_alarms = state["normals"], state["false_alarms"]
            whole = type(normals) is type(false_alarms) is int and 0 <= false_alarms <= normals
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"not the state of an adaptive rate ({error!r}): start a new one") from error
        if not whole:
            raise DataError("the state of the adaptive rate is damaged: start a new one")
        made._normals, made._false_alarms = normals, false_alarms
        return made
