"""What a gate has answered lately, and whether its inputs drift; numbers only, never the inputs."""

from __future__ import annotations

import math
import time
from collections import deque
from typing import Any, NamedTuple

from dissensus.decisions import DriftMonitor
from dissensus.detector.asking import Decisions

__all__ = ["Traffic"]

WINDOW = 500
RENEWED = 100_000  # inputs: the monitor keeps every score, and a service may run for years


class Answered(NamedTuple):
    """One decision, and when it was made."""

    time: float
    score: float
    p_value: float
    flagged: bool


class Traffic:
    """The last 500 decisions of one gate and the martingale that watches all of them for drift.

    Without drift the alarm is raised with probability at most δ in 100,000 inputs; then the martingale starts
    anew, so that memory stays bounded. All starts share the gate's one calibration set, and with it whether δ
    is a little too low or too high for that set, unless the monitor has a margin for it (``confidence``).
    """

    def __init__(self, monitor: DriftMonitor) -> None:
        self.inputs = 0
        """Since the gate was loaded."""
        self._monitor = monitor
        self._recent: deque[Answered] = deque(maxlen=WINDOW)
        self._highest = 0.0

    def add(self, decisions: Decisions) -> bool:
        """Takes in a batch; whether it raised the alarm."""
        if self._monitor.seen >= RENEWED:
            self._monitor.reset()
            self._highest = 0.0
        now, before = time.time(), self._monitor.alarm
        self.inputs += len(decisions.score)
        self._recent.extend(
            Answered(now, *one) for one in zip(*(part.tolist() for part in decisions), strict=True)
        )
        self._highest = max(self._highest, float(self._monitor.update(decisions.score).max()))
        return self._monitor.alarm and not before

    @property
    def log_capital(self) -> float:
        """The logarithm of the martingale now: the evidence of drift."""
        return self._monitor.log_martingale

    @property
    def alarm(self) -> bool:
        """Whether the capital has reached 1/δ."""
        return self._monitor.alarm

    @property
    def flagged_share(self) -> float | None:
        """Of the last 500; None before the first."""
        return sum(one.flagged for one in self._recent) / len(self._recent) if self._recent else None

    def drift(self) -> dict[str, Any]:
        """The state of the martingale; by Ville's inequality exp(−highest) is a p-value."""
        return {
            "log_capital": self.log_capital,
            "alarm": self.alarm,
            "alarm_at": self._monitor.alarm_at,
            "alarm_level": self._monitor.alarm_level,
            "false_alarm_probability": self._monitor.false_alarm_probability,
            "confidence": self._monitor.confidence,
            "sentence": self._sentence(),
            "p_value": math.exp(-max(0.0, self._highest)),
            "inputs": self._monitor.seen,
        }

    def summary(self) -> dict[str, Any]:
        """JSON values; an infinite score is None."""
        return {
            "window": len(self._recent),
            "recent": [
                {
                    "time": round(one.time, 3),
                    "score": one.score if math.isfinite(one.score) else None,
                    "p_value": one.p_value,
                    "flagged": one.flagged,
                }
                for one in self._recent
            ],
            "flagged_share": self.flagged_share,
            "drift": self.drift(),
            "inputs": self.inputs,
        }

    def _sentence(self) -> str | None:
        """What an alarm means and what to do, from the p-values of the last 500; None while there is none."""
        if not self.alarm or not self._recent:
            return None
        n, m = self._monitor.calibration_size, len(self._recent)
        # p is the share of calibration inputs that score as high, so this one is 0.5 where they are alike.
        higher = 1 - sum(one.p_value for one in self._recent) / m
        if abs(higher - 0.5) < 2 * math.sqrt((1 / n + 1 / m) / 12):
            return f"The last {m} inputs score about as the calibration inputs did."
        which = "higher" if higher > 0.5 else "lower"
        return (
            f"The last {m} inputs score {which} than the calibration inputs did (higher in {higher:.0%} of "
            "pairs). If they are normal, recalibrate: dissensus calibrate GATE DATA."
        )
