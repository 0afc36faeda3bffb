"""Numbers and tables of the panel's ablation that documents name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

from benchmarks.decimals import short
from benchmarks.filling.registry import Number, Table
from benchmarks.panel.ablation import KIND
from benchmarks.records import Record, Records

__all__ = ["NUMBERS", "TABLES"]

SETS = ("fashion-mnist", "svhn")
SCORES = ("fused", "fused-draws", "whitened", "std", "ess")
LINES: Mapping[str, Sequence[str]] = {
    "1 / 2 / 4 chains of 10 draws": [f"chains={count}" for count in (1, 2, 4)],
    "1 / 2 / 5 / 10 draws of each of 4 chains": [f"draws a chain={count}" for count in (1, 2, 5, 10)],
    "10 draws of 1 chain / 5 of each of 2": [f"chains, 10 draws in all={count}" for count in (1, 2)],
    "K = 1 / 4 / 16 / 64": [f"importance samples={count}" for count in (1, 4, 16, 64)],
    "z-noise shared / fresh": ["z-noise=shared", "z-noise=fresh"],
    "Bernoulli": ["observation=bernoulli"],
    "Gaussian": ["observation=gaussian"],
    "discretised logistic": ["observation=discretised-logistic"],
    "continuous Bernoulli": ["observation=continuous-bernoulli"],
}
"""What a line of the table is called, and the records it is made of."""


def _records(results: Path, inliers: str) -> dict[str, Record]:
    return {record.name: record for record in Records(results / "panel").read(f"{KIND}-{inliers}")}


def _table(results: Path, inliers: str) -> str:
    """Mean AUROC over all kinds of outliers, a line for each thing that was changed."""
    records = _records(results, inliers)
    lines = [f"| | {' | '.join(f'`{score}`' for score in SCORES)} |", "|---" * (1 + len(SCORES)) + "|"]
    for line, changes in LINES.items():
        cells = (" / ".join(short(_mean(records[name], score)) for name in changes) for score in SCORES)
        lines.append(f"| {' | '.join([line, *cells])} |")
    return "\n".join(lines)


def _mean(record: Record, score: str) -> float:
    return fmean(row["auroc"] for row in record.rows if row["score"] == score)


def _kinds(results: Path, inliers: str) -> float:
    return len({row["outliers"] for row in _records(results, inliers)["unchanged"].rows})


def _gain(results: Path, observation: str) -> float:
    """Nats by which the mixture of all draws is above their mean, on validation images of clothes."""
    found = _records(results, "fashion-mnist")[f"observation={observation}"].about["runs"]["run"]
    told = found["diagnostics"]
    return float(told["validation_log_likelihood_of_mixture"] - told["validation_log_likelihood"])


NUMBERS: Mapping[str, Number] = {
    **{f"ablation.{inliers}.kinds": partial(_kinds, inliers=inliers) for inliers in SETS},
    **{
        f"ablation.gain.{observation}": partial(_gain, observation=observation)
        for observation in ("bernoulli", "gaussian", "discretised-logistic", "continuous-bernoulli")
    },
}
TABLES: Mapping[str, Table] = {f"ablation.{inliers}": partial(_table, inliers=inliers) for inliers in SETS}
