"""What fusing statistics brings on the clothes that come with the package, and what it costs.

A detector with its defaults but ``effort="thorough"`` is fitted as ``dissensus demo`` does it, once for each
seed, and asked about unseen clothes, enlarged digits and all made-up outliers. Recorded are the AUROC of
several statistics of the same draws, the share of outliers above each one's own threshold, and the seconds
that scoring takes fused and by ``kl``. Nothing is chosen by these numbers.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any

import torch

from benchmarks.checks.asked import Asked
from benchmarks.checks.demo import QUICK
from benchmarks.pieces import Found, Piece
from benchmarks.records import Record
from dissensus.decisions import conformal_threshold
from dissensus.defaults import THOROUGH
from dissensus.demo import Demo, run_demo
from dissensus.detector import BayesianVAE
from dissensus.evaluation import auroc
from dissensus.inputs import load_sample
from dissensus.scores import score

__all__ = ["mean_auroc", "pieces", "sentences", "worst_auroc"]

COMPARED = ("kl", "waic", "whitened", "fused")
TIMED_IMAGES, REPEATS = 256, 5


def pieces(asked: Asked) -> Iterator[Piece]:
    """One fit a seed."""
    settings = {"statistic": "fused", "device": "cpu", **(QUICK if asked.quick else {})}
    for seed in asked.seeds:
        yield Piece("fused", "clothes", settings, partial(_measured, settings, seed), seed)


def _measured(settings: Mapping[str, Any], seed: int, _: Callable[[str], None]) -> Found:
    gate = BayesianVAE(random_state=seed, effort=THOROUGH, **settings)
    demo = run_demo(gate)
    about = {
        "training": demo.training,
        "fitted_rows": gate.fitted_rows_,
        "fused": gate.score_.config()["statistics"],
        "threads": torch.get_num_threads(),
        "seconds_to_score": seconds_to_score(gate),
    }
    return Found(compared(demo), about, demo.seconds)


def compared(demo: Demo) -> list[dict[str, Any]]:
    """AUROC and share flagged by kind of outlier and statistic; of inliers the share flagged."""
    gate, rows = demo.gate, []
    for name in COMPARED:
        inliers, outliers = demo.scores(name)
        threshold = conformal_threshold(gate.calibration_statistics_[name], gate.false_alarm_rate)
        rows += [
            {
                "inputs": kind,
                "statistic": name,
                "auroc": None if kind == "inliers" else auroc(inliers, scores),
                "flagged": float((scores > threshold).mean()),
            }
            for kind, scores in {"inliers": inliers, **outliers}.items()
        ]
    return rows


def seconds_to_score(gate: BayesianVAE) -> list[dict[str, Any]]:
    """The least of several runs on the same images, by turns, of the same draws scored in both ways."""
    plain = copy.copy(gate)
    plain.learnt_ = replace(gate.learnt_, score=score("kl"))
    images = load_sample()[1].images
    found: list[dict[str, Any]] = []
    for count in (1, TIMED_IMAGES):
        runs: dict[str, list[float]] = {"kl": [], "fused": []}
        for _ in range(REPEATS):
            for name, own in (("kl", plain), ("fused", gate)):
                began = time.perf_counter()
                own.decide(images[:count])
                runs[name].append(time.perf_counter() - began)
        least = {name: min(times) for name, times in runs.items()}
        found.append({"images": count, **least, "ratio": least["fused"] / least["kl"]})
    return found


def by_kind(records: list[Record], statistic: str) -> dict[str, float]:
    """AUROC by kind of outlier, the mean over seeds."""
    found: dict[str, list[float]] = {}
    for record in records:
        for row in record.rows:
            if row["statistic"] == statistic and row["auroc"] is not None:
                found.setdefault(row["inputs"], []).append(row["auroc"])
    return {kind: fmean(areas) for kind, areas in found.items()}


def mean_auroc(records: list[Record], statistic: str) -> float:
    """Over seeds and kinds of outlier."""
    return fmean(by_kind(records, statistic).values())


def worst_auroc(records: list[Record], statistic: str) -> float:
    """Over seeds, of the kind that is found worst."""
    return min(by_kind(records, statistic).values())


def sentences(records: list[Record]) -> list[str]:
    """One sentence a statistic."""
    return [
        f"{statistic}: AUROC {mean_auroc(records, statistic):.3f} in the mean of {len(records)} seeds and "
        f"all kinds of outlier, {worst_auroc(records, statistic):.3f} of the worst kind."
        for statistic in COMPARED
    ]
