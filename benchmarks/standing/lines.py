"""The questions that the figure asks, and the numbers of each, all of them from records."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from benchmarks.filling.registry import find_number
from benchmarks.panel.recorded import SHOWN

__all__ = ["PUBLISHED", "Line", "Named", "standing_lines"]

PICTURES, NEAR, TABLES, EMBEDDINGS, LATENT = (
    "pictures",
    "near outliers",
    "tables",
    "embeddings",
    "latent space",
)
PANEL_BASELINES: Mapping[str, str] = MappingProxyType(
    {
        "no-model": "image statistics",
        "neighbours": "5th neighbour",
        "mixture": "Gaussian mixture",
        "forest": "isolation forest",
    }
)
TABLE_BASELINES: Mapping[str, str] = MappingProxyType(
    {
        "knn": "5th neighbour",
        "pca": "PCA residual",
        "gaussian-mixture": "Gaussian mixture",
        "isolation-forest": "isolation forest",
    }
)
LATENT_BASELINES: Mapping[str, str] = MappingProxyType(
    {"norm": "norm", "annulus": "annulus", "qz": "density of codes", "knn": "nearest code"}
)
LATENT_POINTS: Mapping[str, str] = MappingProxyType(
    {
        "prior": "points of the prior",
        "2-prior": "2 × the prior",
        "5-prior": "5 × the prior",
        "between": "between two codes",
    }
)
NEAR_PAIR = "fashion-mnist-heldout → held-out classes"


@dataclass(frozen=True)
class Named:
    """A number and what it is of."""

    value: float
    name: str


PUBLISHED: Mapping[str, Named] = MappingProxyType(
    {
        "fashion-mnist → mnist": Named(1.00, "likelihood path, Huang et al. 2024"),
        "svhn → cifar10": Named(0.996, "likelihood of a diffusion model"),
        NEAR_PAIR: Named(0.693, "the paper"),
    }
)
"""The highest AUROC that we have read of for methods that learn without labels and without outliers.

Networks, test images and seeds are those of the publications; on the other questions we know of no number by
the same rules."""


@dataclass(frozen=True)
class Line:
    """One question: how well is what is unlike the training data told from what is like it?"""

    group: str
    title: str
    ours: float
    baseline: Named
    """The simple one that did best on this question, picked after the fact: the hardest to beat."""
    published: Named | None = None


def standing_lines(results: Path) -> Iterator[Line]:
    """Every question whose records are there."""
    for pair, title in SHOWN.items():
        key = pair.replace(" → ", "-to-").replace(" ", "-")
        yield from _line(
            results,
            NEAR if pair == NEAR_PAIR else PICTURES,
            title,
            f"panel.{key}.dissensus.auroc",
            {f"panel.{key}.{name}.auroc": words for name, words in PANEL_BASELINES.items()},
            PUBLISHED.get(pair),
        )
    for group in (TABLES, EMBEDDINGS):
        count = _number(results, f"tables.{group}.sets")
        title = f"mean of {count:.0f} {'sets' if group == EMBEDDINGS else 'tables'}"
        names = {f"tables.{group}.{name}.auroc": words for name, words in TABLE_BASELINES.items()}
        yield from _line(results, group, title, f"tables.{group}.detector.auroc", names)
    for kind, words in LATENT_POINTS.items():
        names = {f"latent.{kind}.{score}": said for score, said in LATENT_BASELINES.items()}
        yield from _line(results, LATENT, f"expressions, {words}", f"latent.{kind}.information", names)


def _line(
    results: Path,
    group: str,
    title: str,
    ours: str,
    baselines: Mapping[str, str],
    published: Named | None = None,
) -> Iterator[Line]:
    value = _number(results, ours)
    measured = [Named(_number(results, name), words) for name, words in baselines.items()]
    known = [each for each in measured if not math.isnan(each.value)]
    if not math.isnan(value) and known:
        yield Line(group, title, value, max(known, key=lambda each: each.value), published)


def _number(results: Path, name: str) -> float:
    return find_number(name, results)
