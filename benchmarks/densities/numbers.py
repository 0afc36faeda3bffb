"""Numbers and tables of the densities that documents name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import fmean

from benchmarks.densities.candidates import CANDIDATES
from benchmarks.densities.command import PAIRS
from benchmarks.densities.table import Lines, ablation, comparison, markdown, mean_auroc
from benchmarks.densities.tasks import group_of
from benchmarks.filling.registry import Number, Table
from benchmarks.panel.sets import EVERY_SET, InlierSet
from benchmarks.records import Record, Records

__all__ = ["NUMBERS", "TABLES"]

SELECTION = tuple(f"{name}-clusters-45" for name in PAIRS)
Make = Callable[[InlierSet, list[Record]], Lines]


def _records(results: Path, inliers: str, size: str) -> list[Record]:
    return Records(results / "densities").read(group_of(inliers, size))


def _sizes(results: Path) -> Mapping[str, int]:
    found: Mapping[str, int] = _records(results, PAIRS[0], "small")[0].settings["sizes"]
    return found


def _bits(inliers: str, candidate: str, results: Path) -> float:
    found = [record for record in _records(results, inliers, "small") if record.name == candidate]
    return fmean(record.about["bits"]["together"] for record in found)


def _auroc(inliers: str, candidate: str, score: str, results: Path) -> float:
    found = [record for record in _records(results, inliers, "small") if record.name == candidate]
    (other,) = EVERY_SET[inliers].other_datasets
    area = mean_auroc(found, score, [other])
    if area is None:
        raise LookupError(f"no record of {candidate} on {inliers} has {score}")
    return area


def _table(make: Make, sets: tuple[str, ...], size: str, results: Path) -> str:
    """The lines of all sets below the heads of one."""
    lines: Lines = []
    for name in sets:
        heads, *own = make(EVERY_SET[name], _records(results, name, size))
        lines += own if lines else [heads, *own]
    return markdown(lines)


NUMBERS: Mapping[str, Number] = (
    {
        "small.training": lambda results: float(_sizes(results)["training"]),
        "small.outliers": lambda results: float(_sizes(results)["outliers"]),
    }
    | {
        f"small.{inliers}.{candidate}.bits": partial(_bits, inliers, candidate)
        for inliers in PAIRS
        for candidate in CANDIDATES
    }
    | {
        f"small.{inliers}.{candidate}.{score}": partial(_auroc, inliers, candidate, score)
        for inliers in PAIRS
        for candidate in CANDIDATES
        for score in ("ess", "kl", "whitened", "fused", "mixture-ll")
    }
)
TABLES: Mapping[str, Table] = {
    f"{size}.{what}": partial(_table, make, sets, size)
    for size in ("small", "full")
    for what, make, sets in (
        ("test", comparison, PAIRS),
        ("selection", comparison, SELECTION),
        ("ablation", ablation, SELECTION),
    )
}
