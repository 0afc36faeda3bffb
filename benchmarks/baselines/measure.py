"""Baselines as pieces to be measured, whatever the benchmark."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.baselines.detectors import BASELINES, Baseline, FloatArray, baseline_settings
from benchmarks.pieces import Found, Piece, measure_missing
from benchmarks.records import Records
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
    split = lru_cache(maxsize=1)(load)
    pieces = (
        Piece(task.group, task.title, task.settings, partial(_measured, task, split), task.seed)
        for task in tasks
    )
    measure_missing(records, pieces, console)


def pictures(images: torch.Tensor) -> NDArray[np.uint8]:
    """Images (N, C, H, W), as the benchmarks keep them, as arrays (N, H, W, C)."""
    return np.ascontiguousarray(channels_last(images).cpu().numpy())


def _measured(task: Task, load: Callable[[str, int], Split], say: Callable[[str], None]) -> Found:
    say("loading")
    split = load(task.group, task.seed)
    learnt_from = split.training if task.baseline.learns_from == "training" else split.held_out
    say("fitting")
    began = time.perf_counter()
    scorer = task.baseline.fit(learnt_from, seed=task.seed)
    fitted = time.perf_counter()
    say("scoring")
    scores = scorer(split.scored)
    seconds = {"fitting": fitted - began, "scoring": time.perf_counter() - fitted}
    about = {"learnt_from": min(len(learnt_from), task.baseline.at_most)}
    return Found(split.rows(task.name, scores), about, seconds)
