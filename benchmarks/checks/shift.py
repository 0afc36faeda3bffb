"""What docs/guarantees.md says about shift, by simulation on normal scores: minutes on one core.

Power of the check for exchangeability, false alarms of plain and weighted p-values after a known shift, of
fixed and adaptive rates under drift, and what a drift monitor does given one calibration set.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.checks.asked import Asked
from benchmarks.pieces import Found, Piece
from benchmarks.records import Record
from dissensus.decisions import (
    AdaptiveRate,
    DriftMonitor,
    check_exchangeable,
    conformal_p_values,
    weighted_p_values,
)

__all__ = ["pieces", "sentences"]

SEED = 0
CONFIDENCES = (0.0, 0.95)
SIZES = {"checks": 200, "sets": 4000, "inputs": 3000, "calibration_sets": 100, "streams": 200, "limit": 600}
QUICK = {"checks": 5, "sets": 50, "inputs": 200, "calibration_sets": 3, "streams": 5, "limit": 50}

Row: TypeAlias = dict[str, Any]


def pieces(asked: Asked) -> Iterator[Piece]:
    """Four simulations."""
    sizes = QUICK if asked.quick else SIZES
    for name, rows in _SIMULATIONS.items():
        yield Piece("shift", name, sizes, partial(_measured, rows, sizes))


def sentences(records: list[Record]) -> list[str]:
    """One line a row."""
    return [
        f"{record.name}: " + ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in row.items())
        for record in records
        for row in record.rows
    ]


def _measured(
    rows: Callable[[Mapping[str, int]], Iterator[Row]], sizes: Mapping[str, int], _: Callable[[str], None]
) -> Found:
    return Found(list(rows(sizes)))


def _checks(sizes: Mapping[str, int]) -> Iterator[Row]:
    """How often a shift by 0.3 standard deviations is seen with 500 calibration inputs."""
    for recent in (50, 200, 1000):
        yield {"recent": recent, "seen": _power(0.3, 500, recent, sizes["checks"])}


def _rates(sizes: Mapping[str, int]) -> Iterator[Row]:
    """Shares of normal inputs: plain, weighted after a known shift; fixed, adaptive under drift."""
    plain, weighted = _known_shift(0.1, 50, sizes["sets"])
    fixed, adaptive = _drifting(0.1, 0.01, sizes["inputs"])
    yield {"plain": plain, "weighted": weighted, "fixed": fixed, "adaptive": adaptive}


def _false_alarms(sizes: Mapping[str, int]) -> Iterator[Row]:
    """How the probability of a false drift alarm given a calibration set varies over such sets."""
    delta = 0.01
    for calibration in (100, 1000):
        random = np.random.default_rng(SEED)
        capital = np.stack(
            [
                _highest(random.normal(size=calibration), sizes["streams"], 300, seed)
                for seed in range(sizes["calibration_sets"])
            ]
        )
        for confidence in CONFIDENCES:
            alarms = (capital >= -math.log(delta * (1 - confidence))).mean(axis=1)
            yield {
                "calibration": calibration,
                "confidence": confidence,
                "mean": alarms.mean(),
                "sets_above": (alarms > delta).mean(),
                "worst": alarms.max(),
            }


def _delays(sizes: Mapping[str, int]) -> Iterator[Row]:
    """How many inputs it takes until the alarm, with five streams a calibration set."""
    for calibration, move in ((1000, 1.0), (1000, 0.5), (100, 1.0), (100, 0.5)):
        random = np.random.default_rng(SEED)
        paths = []
        for seed in range(sizes["calibration_sets"]):
            monitor = DriftMonitor(random.normal(size=calibration), seed=seed)
            for _ in range(5):
                monitor.reset()
                paths.append(monitor.update(random.normal(size=sizes["limit"]) + move))
        for confidence in CONFIDENCES:
            alarm = np.stack(paths) >= -math.log(0.01 * (1 - confidence))
            first = np.where(alarm.any(axis=1), alarm.argmax(axis=1) + 1.0, sizes["limit"] + 1.0)
            yield {
                "calibration": calibration,
                "move": move,
                "confidence": confidence,
                "median_delay": float(np.median(first)),
                "not_seen": 1 - alarm.any(axis=1).mean(),
            }


_SIMULATIONS: Mapping[str, Callable[[Mapping[str, int]], Iterator[Row]]] = {
    "checks that see a shift": _checks,
    "normal inputs flagged at 10%": _rates,
    "false drift alarms": _false_alarms,
    "delay of drift alarms": _delays,
}


def _power(shift: float, calibration: int, recent: int, repeats: int) -> float:
    """How often a shift of scores by so many standard deviations is seen, at a level of 1%."""
    random = np.random.default_rng(SEED)
    seen = 0
    for seed in range(repeats):
        usual, new = random.normal(size=calibration), random.normal(size=recent) + shift
        seen += not check_exchangeable(usual, new, 0.05, seed=seed).exchangeable
    return seen / repeats


def _known_shift(level: float, calibration: int, sets: int) -> tuple[float, float]:
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


def _drifting(rate: float, step: float, inputs: int) -> tuple[float, float]:
    """Shares flagged at a fixed and an adaptive rate, of inputs that drift by two standard deviations."""
    random = np.random.default_rng(SEED)
    scores = random.normal(size=inputs) + np.linspace(0, 2, inputs)
    p_values = conformal_p_values(random.normal(size=500), scores)
    adaptive = AdaptiveRate(rate, step=step)
    for p in p_values.tolist():
        adaptive.update(adaptive.flags(p), normal=True)
    return float((p_values <= rate).mean()), adaptive.false_alarms / inputs


def _highest(calibration: NDArray[np.float64], streams: int, inputs: int, seed: int) -> NDArray[np.float64]:
    """The highest log capital (streams,) of streams without drift that share a calibration set."""
    random, monitor = np.random.default_rng([SEED, seed]), DriftMonitor(calibration, seed=seed)
    found = np.empty(streams)
    for number in range(streams):
        monitor.reset()
        found[number] = monitor.update(random.normal(size=inputs)).max()
    return found
