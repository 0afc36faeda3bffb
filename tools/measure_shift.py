"""What docs/guarantees.md says about shift, by simulation on normal scores: minutes on one core.

    python tools/measure_shift.py

Power of the check for exchangeability, false alarms of plain and weighted p-values after a known shift, of
fixed and adaptive rates under drift, and what a drift monitor does given one calibration set.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dissensus.decisions import (
    AdaptiveRate,
    DriftMonitor,
    check_exchangeable,
    conformal_p_values,
    weighted_p_values,
)

SEED = 0
CONFIDENCES = (0.0, 0.95)


def power(shift: float, calibration: int, recent: int, repeats: int = 200) -> float:
    """How often a shift of scores by so many standard deviations is seen, at a level of 1%."""
    random = np.random.default_rng(SEED)
    seen = 0
    for seed in range(repeats):
        usual, new = random.normal(size=calibration), random.normal(size=recent) + shift
        seen += not check_exchangeable(usual, new, 0.05, seed=seed).exchangeable
    return seen / repeats


def known_shift(level: float, calibration: int = 50, sets: int = 4000) -> tuple[float, float]:
    """Shares of normal inputs with p ≤ ``level``, plain and weighted, if x goes from N(0, 1) to N(1, 1)."""
    random = np.random.default_rng(SEED)
    plain = weighted = 0
    for _ in range(sets):
        before, after = random.normal(size=calibration), random.normal(size=1) + 1
        own = before + 0.5 * random.normal(size=calibration)
        new = after + 0.5 * random.normal(size=1)
        plain += bool(conformal_p_values(own, new)[0] <= level)
        weighted += bool(weighted_p_values(own, new, np.exp(before), np.exp(after))[0] <= level)
    return plain / sets, weighted / sets


def drifting(rate: float = 0.1, step: float = 0.01, inputs: int = 3000) -> tuple[float, float]:
    """Shares flagged at a fixed and an adaptive rate, of inputs that drift by two standard deviations."""
    random = np.random.default_rng(SEED)
    scores = random.normal(size=inputs) + np.linspace(0, 2, inputs)
    p_values = conformal_p_values(random.normal(size=500), scores)
    adaptive = AdaptiveRate(rate, step=step)
    for p in p_values.tolist():
        adaptive.update(adaptive.flags(p), normal=True)
    return float((p_values <= rate).mean()), adaptive.false_alarms / inputs


def highest(calibration: NDArray[np.float64], streams: int, inputs: int, seed: int) -> NDArray[np.float64]:
    """The highest log capital (streams,) of streams without drift that share a calibration set."""
    random, monitor = np.random.default_rng([SEED, seed]), DriftMonitor(calibration, seed=seed)
    found = np.empty(streams)
    for number in range(streams):
        monitor.reset()
        found[number] = monitor.update(random.normal(size=inputs)).max()
    return found


def given_a_set(calibration: int, delta: float = 0.01, sets: int = 100) -> Iterator[str]:
    """How the probability of a false alarm given a calibration set varies over such sets."""
    random = np.random.default_rng(SEED)
    capital = np.stack([highest(random.normal(size=calibration), 200, 300, seed) for seed in range(sets)])
    for confidence in CONFIDENCES:
        alarms = (capital >= -math.log(delta * (1 - confidence))).mean(axis=1)
        yield (
            f"  {calibration} calibration inputs, confidence {confidence}: mean {alarms.mean():.2%}, "
            f"{(alarms > delta).mean():.0%} of sets above {delta:.0%}, the worst {alarms.max():.1%}"
        )


def delay(calibration: int, move: float, limit: int = 600) -> Iterator[str]:
    """How many inputs it takes until the alarm, over 100 calibration sets with five streams each."""
    random = np.random.default_rng(SEED)
    paths = []
    for seed in range(100):
        monitor = DriftMonitor(random.normal(size=calibration), seed=seed)
        for _ in range(5):
            monitor.reset()
            paths.append(monitor.update(random.normal(size=limit) + move))
    for confidence in CONFIDENCES:
        alarm = np.stack(paths) >= -math.log(0.01 * (1 - confidence))
        first = np.where(alarm.any(axis=1), alarm.argmax(axis=1) + 1.0, math.inf)
        yield (
            f"  {calibration} calibration inputs, move {move}, confidence {confidence}: median "
            f"{np.median(first):g}, {np.isfinite(first).mean():.0%} within {limit}"
        )


def lines() -> Iterator[str]:
    """Everything that is measured, in the order of the docs."""
    yield "share of checks that see a shift by 0.3 standard deviations"
    for recent in (50, 200, 1000):
        yield f"  500 calibration and {recent} recent inputs: {power(0.3, 500, recent):.0%}"
    plain, weighted = known_shift(0.1)
    yield f"normal inputs with p ≤ 0.1 after a known shift: plain {plain:.1%}, weighted {weighted:.1%}"
    fixed, adaptive = drifting()
    yield f"flagged at 10% under drift: fixed rate {fixed:.1%}, adaptive {adaptive:.1%}"
    yield "probability of a false drift alarm within 300 inputs, given the calibration set"
    for size in (100, 1000):
        yield from given_a_set(size)
    yield "inputs until the drift alarm"
    for size, move in ((1000, 1.0), (1000, 0.5), (100, 1.0), (100, 0.5)):
        yield from delay(size, move)


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)  # noqa: T201
