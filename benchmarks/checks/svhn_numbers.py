"""Numbers and the table of the check of SVHN's files that documents name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from benchmarks.checks.svhn import DATASETS, SCORES, WAYS, mean_of
from benchmarks.decimals import short
from benchmarks.filling.registry import Number, Table
from benchmarks.records import Record, Records

__all__ = ["NUMBERS", "TABLES"]

SVHN, *CONTROLS = DATASETS
SHOWN = {"cifar10": "CIFAR-10", "mnist": "MNIST", "fashion-mnist": "Fashion-MNIST"}


def _read(results: Path) -> list[Record]:
    return Records(results / "checks").read("svhn")


def _told(results: Path, dataset: str, way: str, score: str, column: str) -> float:
    """Not a number where it was not measured."""
    records = [record for record in _read(results) if record.name == dataset]
    return mean_of(records, dataset, way, score, column) if records else math.nan


def _nearness(results: Path, split: str, lag: str) -> float:
    about = next(record.about for record in _read(results) if record.name == SVHN)
    return float(about["nearness"][split][lag])


def _table(results: Path) -> str:
    """A line for each way: on SVHN by score, on the others the least and the most of all scores."""
    records = _read(results)
    measured = {record.name for record in records}
    heads = [*(f"SVHN, {score}" for score in SCORES), *(SHOWN[name] for name in CONTROLS)]
    lines = [f"| | {' | '.join(heads)} |", "|---" * (1 + len(heads)) + "|"]
    for way, words in WAYS.items():
        cells = []
        for score in SCORES:
            alarms, false = (mean_of(records, SVHN, way, score, column) for column in ("alarms", "false"))
            cells.append(f"{short(alarms)} ({short(false)})")
        for name in CONTROLS:
            found = [mean_of(records, name, way, score, "alarms") for score in SCORES if name in measured]
            cells.append(f"{short(min(found))} to {short(max(found))}" if found else "–")
        lines.append(f"| *{way}*: {words} | {' | '.join(cells)} |")
    return "\n".join(lines)


NUMBERS: Mapping[str, Number] = {
    **{
        f"svhn.{dataset}.{way.replace(' ', '-')}.{score.replace(' ', '-')}.{column}": partial(
            _told, dataset=dataset, way=way, score=score, column=column
        )
        for dataset in DATASETS
        for way in WAYS
        for score in SCORES
        for column in ("alarms", "false")
    },
    **{
        f"svhn.nearness.{split}.{lag}": partial(_nearness, split=split, lag=str(lag))
        for split in ("train", "test")
        for lag in (1, 2, 5, 10)
    },
}
TABLES: Mapping[str, Table] = {"svhn": _table}
