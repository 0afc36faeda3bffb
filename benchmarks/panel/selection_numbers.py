"""Numbers of the panel's choice of a score that documents name, and of likelihood regret."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import fmean

from benchmarks.filling.registry import Number
from benchmarks.panel.rows import Row
from benchmarks.panel.summary import Summary, summarise
from benchmarks.panel.tasks import all_rows
from benchmarks.records import Records

__all__ = ["NUMBERS"]

FUSIONS = ("fused", "fused-even", "fused-neighbours", "fused-gaussian", "fused-draws", "fused-images")
CLOTHES = "fashion-mnist"
REGRET = "sghmc/likelihood-regret"
OBSERVATIONS = {"bernoulli": "sghmc", "gaussian": "sghmc+observation=gaussian"}


def _rows(results: Path) -> list[Row]:
    return list(all_rows(Records(results / "panel"), "selection"))


def _candidates(results: Path) -> dict[str, Summary]:
    """Of the recommended posterior, by score."""
    rows = [row for row in _rows(results) if row.posterior == "sghmc"]
    return {each.score: each for each in summarise(rows)}


def _candidate(results: Path, score: str) -> float:
    return _candidates(results)[score].mean


def _best_single(results: Path) -> float:
    return max(each.mean for score, each in _candidates(results).items() if not score.startswith("fused"))


def _on_clothes(results: Path, posterior: str) -> float:
    return fmean(
        row.auroc
        for row in _rows(results)
        if (row.inliers, row.posterior, row.score) == (CLOTHES, posterior, "fused")
    )


def _regret(results: Path, kind: str) -> float:
    return next(area for name, area in _areas(results, REGRET, "likelihood-regret") if name == kind)


def _mean(results: Path, name: str, score: str) -> float:
    return fmean(area for _, area in _areas(results, name, score))


def _areas(results: Path, name: str, score: str) -> Iterator[tuple[str, float]]:
    """AUROC by kind of outlier, of the seed that likelihood regret was measured with."""
    for record in Records(results / "panel").read(CLOTHES):
        if (record.name, record.seed) == (name, 0):
            yield from ((row["outliers"], row["auroc"]) for row in record.rows if row["score"] == score)


NUMBERS: Mapping[str, Number] = {
    **{f"selection.{score}": partial(_candidate, score=score) for score in FUSIONS},
    "selection.best-single": _best_single,
    "selection.pairs": lambda results: _candidates(results)["fused"].pairs,
    **{
        f"selection.{CLOTHES}.{name}": partial(_on_clothes, posterior=posterior)
        for name, posterior in OBSERVATIONS.items()
    },
    **{
        f"regret.{kind}": partial(_regret, kind=kind)
        for kind in ("mnist", "gaussian-noise", "constant", "blurred")
    },
    "regret.mean": partial(_mean, name=REGRET, score="likelihood-regret"),
    **{f"regret.mean.{score}": partial(_mean, name="sghmc", score=score) for score in ("fused", "kl")},
}
