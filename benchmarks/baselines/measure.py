"""Makes the records of baselines that are missing, whatever the benchmark."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.baselines.detectors import BASELINES, Baseline, FloatArray, baseline_settings
from benchmarks.records import Record, Records
from dissensus.models.inputs import channels_last

__all__ = ["PREFIX", "Split", "Task", "baseline_tasks", "measure", "pictures"]

PREFIX = "baseline/"
"""What the names of their records begin with."""


@dataclass(frozen=True)
class Task:
    """A record to be made: one baseline on one group of records, with one seed."""

    group: str
    name: str
    baseline: Baseline
    seed: int
    chosen: Mapping[str, Any]
    """What else the numbers depend on: how the benchmark chooses its inputs."""

    @property
    def title(self) -> str:
        """The name of its record."""
        return PREFIX + self.name

    @property
    def settings(self) -> dict[str, Any]:
        """Everything the numbers depend on beside the seed, as plain values."""
        return {"baseline": baseline_settings(self.baseline), **self.chosen}

    def is_measured(self, records: Records) -> bool:
        """Whether there is a record of these very settings."""
        return records.find(self.group, self.title, self.seed, self.settings) is not None


@dataclass(frozen=True, eq=False)
class Split:
    """The inputs of one group and seed, rows (N, D) or pictures (N, H, W, C), the same for all baselines."""

    training: NDArray[Any]
    held_out: NDArray[Any]
    """Inliers that are neither trained on nor tested."""
    scored: NDArray[Any]
    rows: Callable[[str, FloatArray], list[dict[str, Any]]]
    """The record's rows, from the baseline's name and the scores (N,) of ``scored``."""


def baseline_tasks(groups: Sequence[str], seeds: Sequence[int], chosen: Mapping[str, Any]) -> list[Task]:
    """A record for each group, baseline and seed; a whole seed before the next."""
    return [
        Task(group, name, baseline, seed, chosen)
        for seed, group, (name, baseline) in itertools.product(seeds, groups, BASELINES.items())
    ]


def measure(
    records: Records, tasks: Sequence[Task], load: Callable[[str, int], Split], console: Console
) -> None:
    """Measure what has no record yet, on the CPU, and write each record at once.

    ``load`` gives the inputs of a group and seed; they are read once for all baselines that need them.
    """
    missing = [task for task in tasks if not task.is_measured(records)]
    for (group, seed), own in itertools.groupby(missing, key=lambda task: (task.group, task.seed)):
        began = time.perf_counter()
        split = load(group, seed)
        loading = time.perf_counter() - began
        for task in own:
            record = _measured(task, split, loading, quick=records.quick)
            records.add(group, record)
            console.print(
                f"{group}, {task.name}, seed {seed}: {record.seconds['fitting']:.1f} s fitting, "
                f"{record.seconds['scoring']:.1f} s scoring, "
                f"AUROC {fmean(row['auroc'] for row in record.rows):.3f}",
                highlight=False,
                soft_wrap=True,
            )


def pictures(images: torch.Tensor) -> NDArray[np.uint8]:
    """Images (N, C, H, W), as the benchmarks keep them, as arrays (N, H, W, C)."""
    return np.ascontiguousarray(channels_last(images).cpu().numpy())


def _measured(task: Task, split: Split, loading: float, *, quick: bool) -> Record:
    learnt_from = split.training if task.baseline.learns_from == "training" else split.held_out
    began = time.perf_counter()
    scorer = task.baseline.fit(learnt_from, seed=task.seed)
    fitted = time.perf_counter()
    scores = scorer(split.scored)
    seconds = {"loading": loading, "fitting": fitted - began, "scoring": time.perf_counter() - fitted}
    return Record(
        task.title,
        task.seed,
        task.settings,
        split.rows(task.name, scores),
        seconds,
        about={"learnt_from": min(len(learnt_from), task.baseline.at_most)},
        quick=quick,
    )
