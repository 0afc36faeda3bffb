"""From scores to parts of a record: how often each guarantee was kept over random splits of the inliers.

A random split makes calibration and test inliers exchangeable by construction, so every split is an
independent trial of what the guarantees promise, with the ties, tails and gaps of real scores.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dissensus.decisions import (
    DriftMonitor,
    allowed_alarms,
    batch_test,
    benjamini_hochberg,
    conformal_p_values,
    conformal_threshold,
    false_alarm_interval,
)
from dissensus.seeding import numpy_stream

__all__ = ["BATCHES", "DISCOVERIES", "FALSE_ALARMS", "STREAMS", "measure_guarantees"]

FALSE_ALARMS, DISCOVERIES = "false alarms", "false discoveries"
STREAMS, BATCHES = "streams", "batches"

RATES = (0.01, 0.05, 0.1)
LEVEL = 0.9
FDRS = (0.05, 0.1, 0.2)
OUTLIER_SHARE = 0.2  # of the inputs that Benjamini–Hochberg decides on
DELTA = 0.05  # of the stream alarms
DRIFT_SHARE = 0.2  # outliers among a drifted stream's inputs
BATCH = 100
BATCH_SHARE = 0.1  # outliers in a strange batch
RESAMPLES = 199
PATHS, POINTS = 12, 100  # streams that are kept for the figure, and at how many places

FloatArray = NDArray[np.float64]


class Split(NamedTuple):
    """One random division of the inliers' scores."""

    number: int
    calibration: FloatArray
    test: FloatArray


def measure_guarantees(
    inliers: FloatArray, outliers: FloatArray, *, calibration_size: int, splits: int = 200, seed: int = 0
) -> dict[str, dict[str, Any]]:
    """What was found of each guarantee by scores of inliers (N,), all unseen by the fit, and of outliers.

    The first ``calibration_size`` inliers are the detector's own calibration inputs: how many of the others
    they let pass is the one number here that no random division makes exchangeable.
    """
    undivided = Split(0, inliers[:calibration_size], inliers[calibration_size:])
    every = [
        Split(number, order[:calibration_size], order[calibration_size:])
        for number in range(splits)
        for order in [numpy_stream(seed, "split", number).permutation(inliers)]
    ]
    return {
        **{f"{FALSE_ALARMS} at {rate:.0%}": _false_alarms(every, undivided, rate) for rate in RATES},
        **{f"{DISCOVERIES} at {fdr:.0%}": _discoveries(every, outliers, fdr, seed) for fdr in FDRS},
        STREAMS: _streams(every, outliers, seed),
        BATCHES: _batches(every, outliers, seed),
    }


def _false_alarms(splits: list[Split], undivided: Split, rate: float) -> dict[str, Any]:
    size, tests = len(splits[0].calibration), len(splits[0].test)
    interval = false_alarm_interval(size, rate, level=LEVEL, tests=tests)
    counts = [_alarms(split, rate) for split in splits]
    low, high = round(interval.low * tests), round(interval.high * tests)
    inside = sum(low <= count <= high for count in counts)
    # Shares of m inliers are multiples of 1/m: what the interval holds exactly is a little more than LEVEL.
    allowed = allowed_alarms(size, rate)
    law = stats.betabinom(tests, allowed, size + 1 - allowed)
    stated = float(law.cdf(high) - law.cdf(low - 1)) if allowed else 1.0
    return {
        "rate": rate,
        "level": LEVEL,
        "low": interval.low,
        "high": interval.high,
        "stated": stated,
        "inside": inside / len(splits),
        "kept": bool(stats.binomtest(inside, len(splits), min(stated, 1.0)).pvalue > 0.01),
        "undivided": _alarms(undivided, rate) / tests,
        "realised": [count / tests for count in counts],
    }


def _alarms(split: Split, rate: float) -> int:
    return int((split.test > conformal_threshold(split.calibration, rate)).sum())


def _discoveries(splits: list[Split], outliers: FloatArray, fdr: float, seed: int) -> dict[str, Any]:
    shares, powers = [], []
    for split in splits:
        strange = min(len(outliers), int(OUTLIER_SHARE / (1 - OUTLIER_SHARE) * len(split.test)))
        chosen = numpy_stream(seed, "discoveries", split.number).choice(outliers, strange, replace=False)
        scores = np.concatenate([split.test, chosen])
        flagged = benjamini_hochberg(conformal_p_values(split.calibration, scores), fdr).flagged
        shares.append(float(flagged[: len(split.test)].sum() / max(1, flagged.sum())))
        powers.append(float(flagged[len(split.test) :].mean()))
    error = float(np.std(shares, ddof=1)) / math.sqrt(len(shares))
    return {
        "target": fdr,
        "realised": float(np.mean(shares)),
        "standard_error": error,
        "power": float(np.mean(powers)),
        "kept": float(np.mean(shares)) <= fdr + 2 * error,
    }


def _streams(splits: list[Split], outliers: FloatArray, seed: int) -> dict[str, Any]:
    alarms: dict[str, list[int | None]] = {"normal": [], "drifted": []}
    paths: dict[str, list[list[float]]] = {"normal": [], "drifted": []}
    length = len(splits[0].test)
    half, step = length // 2, max(1, length // POINTS)
    for split in splits:
        random = numpy_stream(seed, "drift", split.number)
        strange = (random.random(length) < DRIFT_SHARE) & (np.arange(length) >= half)
        drifted = np.where(strange, random.choice(outliers, length), split.test)
        for kind, stream in (("normal", split.test), ("drifted", drifted)):
            monitor = DriftMonitor(split.calibration, false_alarm_probability=DELTA, seed=split.number)
            path = monitor.update(stream)
            alarms[kind].append(monitor.alarm_at)
            if len(paths[kind]) < PATHS:
                paths[kind].append(path[::step].round(3).tolist())
    false_alarms = sum(at is not None for at in alarms["normal"])
    # An alarm before the drift is a false one, whatever comes later.
    delays = [at - half + 1 for at in alarms["drifted"] if at is not None and at >= half]
    return {
        "delta": DELTA,
        "drift_share": DRIFT_SHARE,
        "length": length,
        "drift_from": half,
        "false_alarms": false_alarms / len(splits),
        "kept": _at_most(false_alarms, len(splits), DELTA),
        "detected": len(delays) / len(splits),
        "median_delay": float(np.median(delays)) if delays else None,
        "step": step,
        "paths": paths,
    }


def _batches(splits: list[Split], outliers: FloatArray, seed: int) -> dict[str, Any]:
    p_values: dict[str, list[float]] = {"normal": [], "strange": []}
    for split in splits:
        batch = split.test[:BATCH]
        few = numpy_stream(seed, "batch", split.number).choice(outliers, int(BATCH_SHARE * len(batch)))
        for kind, scores in (("normal", batch), ("strange", np.concatenate([batch[len(few) :], few]))):
            answer = batch_test(split.calibration, scores, resamples=RESAMPLES, seed=split.number)
            p_values[kind].append(answer.p_value)
    rejected = {kind: sum(p <= 0.05 for p in values) for kind, values in p_values.items()}
    return {
        "size": len(batch),
        "strange_share": BATCH_SHARE,
        "level": 0.05,
        "rejected": {kind: number / len(splits) for kind, number in rejected.items()},
        "kept": _at_most(rejected["normal"], len(splits), 0.05),
        "p_values": p_values,
    }


def _at_most(count: int, trials: int, probability: float) -> bool:
    """Whether chance explains so many, were the probability no higher."""
    return bool(stats.binomtest(count, trials, probability, alternative="greater").pvalue > 0.01)
