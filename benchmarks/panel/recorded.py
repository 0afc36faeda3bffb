"""The panel's records as documents ask for them: pairs of one method, read once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

from benchmarks.panel.rows import Row
from benchmarks.panel.summary import Pair, pairs
from benchmarks.panel.tasks import all_rows
from benchmarks.records import Records

__all__ = ["METHODS", "SHOWN", "pairs_of", "rows_of"]

METHODS: Mapping[str, Callable[[Row], bool]] = {
    "dissensus": lambda row: row.recommended,
    "no-model": lambda row: row.score == "image-statistics",  # as "fused-images", to the last digit
    "neighbours": lambda row: row.score == "nearest-neighbour",
    "forest": lambda row: row.score == "isolation-forest",
    "mixture": lambda row: row.score == "gaussian-mixture",
    **{
        name: lambda row, score=score: (row.posterior, row.score) == ("sghmc", score)  # type: ignore[misc]
        for name, score in (
            ("likelihood", "mean-ll"),
            *((score, score) for score in ("ess", "kl", "whitened", "fused-draws", "fused-even")),
        )
    },
}
SHOWN = {
    "fashion-mnist → mnist": "Fashion-MNIST → MNIST",
    "fashion-mnist → kmnist": "Fashion-MNIST → KMNIST",
    "mnist → fashion-mnist": "MNIST → Fashion-MNIST",
    "svhn → cifar10": "SVHN → CIFAR10",
    "cifar10 → svhn": "CIFAR10 → SVHN",
    "fashion-mnist-heldout → held-out classes": "Fashion-MNIST → held-out classes",
}
"""The pairs that the README shows."""


def rows_of(results: Path) -> list[Row]:
    """Every row. The records take a moment to read: only once, unless a file has changed."""
    return _read(results, _changed(results))


def pairs_of(results: Path, method: str, *, grouped: bool = True) -> list[Pair]:
    """Every pair of one of :data:`METHODS`, made once like the rows: hundreds of numbers ask for them."""
    return _pairs(results, _changed(results), method, grouped)


def _changed(results: Path) -> tuple[int, ...]:
    return tuple(path.stat().st_mtime_ns for path in sorted((results / "panel").glob("*.jsonl")))


@lru_cache(maxsize=1)
def _read(results: Path, _: tuple[int, ...]) -> list[Row]:
    return list(all_rows(Records(results / "panel")))


@lru_cache(maxsize=2 * len(METHODS))
def _pairs(results: Path, changed: tuple[int, ...], method: str, grouped: bool) -> list[Pair]:
    return pairs([row for row in _read(results, changed) if METHODS[method](row)], grouped=grouped)
