"""What the demonstration measured, as a record."""

from __future__ import annotations

from typing import Any

import numpy as np

from dissensus.demo.neighbours import NEIGHBOURS
from dissensus.demo.run import Demo
from dissensus.detector.describing import about_sampler
from dissensus.evaluation import auroc, auroc_interval, environment

__all__ = ["COLUMNS", "demo_record"]

COLUMNS = (NEIGHBOURS, "mean-ll", "waic", "ess", "kl", "std")
"""The simplest baseline first."""


def demo_record(demo: Demo) -> dict[str, Any]:
    """What was measured, as JSON values."""
    gate = demo.gate
    flag_inliers, flag_outliers = demo.scores(gate.statistic_)
    record: dict[str, Any] = {
        "training": demo.training,
        "settings": {name: getattr(gate, name) for name in ("variant", "false_alarm_rate", "samples")}
        | {"chains": gate.sampler_.chains, "draws": gate.sampler_.draws}
        | {"statistic": gate.statistic_},
        "seed": gate.seed_,
        "threshold": gate.threshold_ if np.isfinite(gate.threshold_) else None,
        "calibration_inputs": len(gate.calibration_scores_),
        "inliers": {
            "count": len(demo.inliers),
            "flagged": int((flag_inliers > gate.threshold_).sum()),
        },
        "outliers": {
            kind: {
                "count": len(images),
                "flagged": int((flag_outliers[kind] > gate.threshold_).sum()),
                "auroc": {},
            }
            for kind, images in demo.outliers.items()
        },
        "health": about_sampler(gate),
        "noise_floor": gate.noise_floor_,
        "seconds": {name: round(value, 1) for name, value in demo.seconds.items()},
        "environment": environment(),
    }
    for name in dict.fromkeys((*COLUMNS, gate.statistic_)):
        inlier_scores, outlier_scores = demo.scores(name)
        for kind, scores in outlier_scores.items():
            interval = auroc_interval(inlier_scores, scores)
            record["outliers"][kind]["auroc"][name] = {
                "value": auroc(inlier_scores, scores),
                "low": interval.low,
                "high": interval.high,
            }
    return record
