r"""Has a stream drifted? A conformal test martingale: a gambler who gets rich only where the stream changes.

Each score is ranked among *all* scores before it, calibration included, and itself:

.. math:: p_t = (\#\{s_i > s_t\} + u_t \cdot \#\{s_i = s_t\}) / (n + t), \qquad u_t \sim U(0, 1].

While the stream is exchangeable with the calibration inputs, these p-values are independent and uniform.
(Ranked among the calibration inputs alone they would depend on each other through that one set, and a long
normal stream would look like drift.) The gambler starts with 1, spreads it over bets f with
:math:`\int_0^1 f = 1`, and before score t moves the share 1/(t + 1) of every stake to all bets alike, so that
some of it is always on what begins to win. (That is the "simple jumper" of Vovk et al. 2021, "Retrain or not
retrain", with more bets; moving a fixed share, as there, loses a fixed part of the capital with every normal
score, and a drift after a long quiet time is seen ever later.) The capital is a martingale, and by Ville's
inequality :math:`P(\sup_t S_t \ge 1/\delta) \le \delta`: over the whole of a stream without drift, however
long.

This probability is one over calibration sets *and* streams. Given one calibration set C, the probability
q(C) of a false alarm may be higher: a set that happens to lie low makes every stream look high. Monitors that
start again with the same set (:meth:`DriftMonitor.reset`) share this bad luck; in R starts at most R·δ false
alarms are expected, but they come together. An alarm at :math:`S_t \ge 1/(\delta\eta)` has E[q(C)] ≤ δη, and
by Markov's inequality :math:`P(q(C) \ge \delta) \le \eta`: for all calibration sets but a share η the
probability given that set is less than δ. The cost is delay: the gambler has to win log(1/η) more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dissensus.decisions.ranked import Ranked
from dissensus.errors import DataError, SettingsError

__all__ = ["DriftMonitor"]

FloatArray = NDArray[np.float64]

SLOPES = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])  # bets 1 + ε(p − ½): all scores a little higher, or lower
POWERS = np.array([0.5, 0.75, 0.9])  # bets κ·p^(κ−1): a few scores far higher, the rest as before


class DriftMonitor:
    """Watches a stream of scores (higher = more unusual) and raises an alarm when it drifts.

    It sees whatever changes the law of the scores: all inputs a little stranger or more usual, or a few very
    strange ones among normal ones. A lone outlier is not drift and soon forgotten.

    Parameters
    ----------
    calibration
        Scores (n,) of inliers, as :attr:`Detector.calibration_scores_`.
    false_alarm_probability
        δ: the probability that a stream without drift, however long, ever raises the alarm.
    confidence
        1 − η: how surely δ holds for the one calibration set at hand. With 0, the default, δ is a mean over
        calibration sets. Else the alarm comes at a capital of 1/(δη): with δ = 0.01 and a confidence of 0.95
        the logarithm has to reach 7.6 instead of 4.6, which takes about 1.7 times as many scores; a slight
        drift beside few calibration scores, which it soon outnumbers, may not be seen any more.
    seed
        Of the numbers that break ties between scores.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> monitor = DriftMonitor(random.normal(size=500))
    >>> _ = monitor.update(random.normal(size=1000)); monitor.alarm
    False
    >>> _ = monitor.update(random.normal(size=200) + 1); monitor.alarm
    True
    """

    def __init__(
        self,
        calibration: ArrayLike,
        *,
        false_alarm_probability: float = 0.01,
        confidence: float = 0.0,
        seed: int = 0,
    ) -> None:
        if not 0 < false_alarm_probability < 1:
            raise SettingsError(
                f"false_alarm_probability must lie between 0 and 1, got {false_alarm_probability}"
            )
        if not 0 <= confidence < 1:
            raise SettingsError(f"confidence must be at least 0 and less than 1, got {confidence}")
        self.false_alarm_probability = false_alarm_probability
        self.confidence = confidence
        self._calibration = np.sort(_checked(calibration, "calibration"))
        self._seed = seed
        self._drawn = 0
        self.reset()

    def reset(self) -> None:
        """Start anew, after an alarm was looked into: capital 1, and the stream so far is forgotten."""
        self._seen = Ranked(self._calibration)
        self._stakes = np.full(len(SLOPES) + len(POWERS), 1.0 / (len(SLOPES) + len(POWERS)))
        self._log_capital = 0.0
        self._alarm_at: int | None = None

    def update(self, scores: ArrayLike) -> FloatArray:
        """Take in the stream's next scores (N,); return the logarithm of the capital after each, (N,)."""
        values = _checked(scores, "scores")
        # One number a score whatever the batches: the same stream gives the same answer however it is cut.
        ties = np.random.Generator(np.random.PCG64(self._seed).advance(self._drawn)).random(len(values))
        self._drawn += len(values)
        path = np.empty(len(values))
        for index, (value, tie) in enumerate(zip(values.tolist(), ties.tolist(), strict=True)):
            path[index] = self._step(self._rank(value, 1.0 - tie))
        return path

    @property
    def log_martingale(self) -> float:
        """log S, the logarithm of the capital now; the evidence of drift, 0 at the start."""
        return self._log_capital

    @property
    def alarm_level(self) -> float:
        """The logarithm of the capital that raises the alarm, log(1/(δη))."""
        return -math.log(self.false_alarm_probability * (1 - self.confidence))

    @property
    def alarm(self) -> bool:
        """Whether the capital has ever reached that of the alarm; stays so until :meth:`reset`."""
        return self._alarm_at is not None

    @property
    def alarm_at(self) -> int | None:
        """Which score of the stream, counted from 0, raised the alarm; None while there is none."""
        return self._alarm_at

    @property
    def calibration_size(self) -> int:
        """n: how many calibration scores there are."""
        return len(self._calibration)

    @property
    def seen(self) -> int:
        """How many scores the stream has had since the start or the last :meth:`reset`."""
        return len(self._seen) - len(self._calibration)

    def state(self) -> dict[str, NDArray[np.float64] | NDArray[np.int64]]:
        """Everything :meth:`restore` needs to go on, as arrays for any file format."""
        alarm_at = -1 if self._alarm_at is None else self._alarm_at
        return {
            "calibration": self._calibration.copy(),
            "seen": self._seen.ordered(),
            "stakes": self._stakes.copy(),
            "log_capital": np.array([self._log_capital]),
            "false_alarm_probability": np.array([self.false_alarm_probability]),
            "confidence": np.array([self.confidence]),
            "counts": np.array([self._seed, self._drawn, alarm_at], dtype=np.int64),
        }

    @classmethod
    def restore(cls, state: Mapping[str, ArrayLike]) -> Self:
        """The monitor that :meth:`state` was taken of; it goes on as if it had never stopped."""
        try:
            seed, drawn, alarm_at = np.asarray(state["counts"], dtype=np.int64).tolist()
            (probability,) = np.asarray(state["false_alarm_probability"], dtype=np.float64).tolist()
            (confidence,) = np.asarray(state["confidence"], dtype=np.float64).tolist()
            (log_capital,) = np.asarray(state["log_capital"], dtype=np.float64).tolist()
            monitor = cls(
                state["calibration"], false_alarm_probability=probability, confidence=confidence, seed=seed
            )
            seen, stakes = _checked(state["seen"], "seen"), _checked(state["stakes"], "stakes")
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"not the state of a drift monitor ({error!r}): start a new one") from error
        whole = (
            stakes.shape == monitor._stakes.shape
            and (stakes >= 0).all()
            and math.isclose(stakes.sum(), 1.0, rel_tol=1e-9)
            and math.isfinite(log_capital)
            and drawn >= len(seen) - len(monitor._calibration) >= 0
            and bool((seen[1:] >= seen[:-1]).all())
        )
        if not whole:
            raise DataError("the state of the drift monitor is damaged: start a new one")
        monitor._seen, monitor._stakes = Ranked(seen), stakes
        monitor._log_capital, monitor._drawn = log_capital, drawn
        monitor._alarm_at = None if alarm_at < 0 else alarm_at
        return monitor

    def _rank(self, score: float, tie: float) -> float:
        """The p-value of the next score, which joins those seen."""
        below, up_to = self._seen.below(score), self._seen.up_to(score)
        above, equal = len(self._seen) - up_to, up_to - below + 1
        self._seen.add(score)
        return (above + tie * equal) / len(self._seen)

    def _step(self, p: float) -> float:
        """Bets on one p-value in (0, 1]; the capital after it, as a logarithm."""
        # Stakes are shares of the capital, so that neither overflows however long the stream.
        jump = 1.0 / (self.seen + 1)
        stakes = ((1 - jump) * self._stakes + jump / len(self._stakes)) * bets(p)
        growth = float(stakes.sum())
        self._stakes = stakes / growth
        self._log_capital += math.log(growth)
        if self._alarm_at is None and self._log_capital >= self.alarm_level:
            self._alarm_at = self.seen - 1
        return self._log_capital


def bets(p: float) -> FloatArray:
    """What each bet pays at p in (0, 1]: densities on the unit interval, so that no bet wins on average."""
    return np.concatenate([1.0 + SLOPES * (p - 0.5), POWERS * p ** (POWERS - 1.0)])


def _checked(scores: ArrayLike, name: str) -> FloatArray:
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or np.isnan(values).any():
        raise DataError(f"{name} must be a list of numbers, none of them NaN, got shape {values.shape}")
    return values
