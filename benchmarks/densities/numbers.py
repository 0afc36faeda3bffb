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
from benchmarks.panel.sets import EVERY_SET, INLIER_SETS, InlierSet, kind_of
from benchmarks.records import Record, Records

__all__ = ["NUMBERS", "TABLES"]

SELECTION = tuple(f"{name}-clusters-45" for name in PAIRS)
Make = Callable[[InlierSet, list[Record]], Lines]


def _records(results: Path, inliers: str, size: str) -> list[Record]:
    return Records(results / "densities").read(group_of(inliers, size))


def _sizes(size: str, results: Path) -> Mapping[str, int]:
    found: Mapping[str, int] = _records(results, PAIRS[0], size)[0].settings["sizes"]
    return found


def _setting(size: str, name: str, results: Path) -> float:
    return float(_records(results, PAIRS[0], size)[0].settings[name])


def _of(results: Path, inliers: str, size: str, candidate: str) -> list[Record]:
    return [record for record in _records(results, inliers, size) if record.name == candidate]


def _bits(size: str, inliers: str, candidate: str, results: Path) -> float:
    return fmean(record.about["bits"]["together"] for record in _of(results, inliers, size, candidate))


def _auroc(size: str, inliers: str, candidate: str, score: str, results: Path) -> float:
    (other,) = EVERY_SET[inliers].other_datasets
    return _known(
        mean_auroc(_of(results, inliers, size, candidate), score, [other]), inliers, candidate, score
    )


def _chosen_by(size: str, inliers: str, candidate: str, score: str, results: Path) -> float:
    """The mean over all kinds of outlier made of training pictures."""
    known = EVERY_SET[f"{inliers}-clusters-45"]
    area = mean_auroc(_of(results, known.name, size, candidate), score, known.outliers)
    return _known(area, known.name, candidate, score)


def _known(area: float | None, inliers: str, candidate: str, score: str) -> float:
    if area is None:
        raise LookupError(f"no record of {candidate} on {inliers} has {score}")
    return area


def _by_the_default(inliers: str, results: Path) -> float:
    """What the panel's default finds of the made-up outliers that are not far ones: a mean over kinds."""
    known = INLIER_SETS[inliers]
    kinds = [each for each in known.made_up if kind_of(known, each) == "made-up"]
    found = [each for each in Records(results / "panel").read(inliers) if each.name == "sghmc"]
    return _known(mean_auroc(found, "fused", kinds), inliers, "sghmc", "fused")


def _table(make: Make, sets: tuple[str, ...], size: str, results: Path) -> str:
    """The lines of all sets below the heads of one."""
    lines: Lines = []
    for name in sets:
        heads, *own = make(EVERY_SET[name], _records(results, name, size))
        lines += own if lines else [heads, *own]
    return markdown(lines)


SIZES = ("small", "full")
SCORES = ("ess", "kl", "whitened", "fused", "mixture-ll")

NUMBERS: Mapping[str, Number] = (
    {f"default.{inliers}.made-up": partial(_by_the_default, inliers) for inliers in PAIRS}
    | {
        f"{size}.{name}": partial(lambda size, name, results: float(_sizes(size, results)[name]), size, name)
        for size in SIZES
        for name in ("training", "inliers", "outliers")
    }
    | {f"{size}.{name}": partial(_setting, size, name) for size in SIZES for name in ("members", "epochs")}
    | {
        f"{size}.{inliers}.{candidate}.bits": partial(_bits, size, inliers, candidate)
        for size in SIZES
        for inliers in PAIRS
        for candidate in CANDIDATES
    }
    | {
        f"{size}.{inliers}.{candidate}.{score}": partial(_auroc, size, inliers, candidate, score)
        for size in SIZES
        for inliers in PAIRS
        for candidate in CANDIDATES
        for score in SCORES
    }
    | {
        f"{size}.{inliers}.{candidate}.chosen-by.fused": partial(
            _chosen_by, size, inliers, candidate, "fused"
        )
        for size in SIZES
        for inliers in PAIRS
        for candidate in CANDIDATES
    }
    | {
        f"small.{inliers}.small-vae.chosen-by.{name}": partial(
            _chosen_by, "small", inliers, "small-vae", f"fused with {statistic}"
        )
        for inliers in PAIRS
        for name, statistic in (("with-gradient", "gradient-norm"), ("with-code", "code-fit"))
    }
)
TABLES: Mapping[str, Table] = {
    f"{size}.{what}": partial(_table, make, sets, size)
    for size in SIZES
    for what, make, sets in (
        ("test", comparison, PAIRS),
        ("selection", comparison, SELECTION),
        ("ablation", ablation, SELECTION),
    )
}
