"""One runner for all benchmarks: makes what the records lack, may be stopped at any time, and goes on there.

A *task* is a record to be made, a *run* the costly part that one or several records are made from: weight
draws, and what they say about inputs. A benchmark says what its runs and tasks are; all else is here.
"""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.archive import Archive
from benchmarks.devices import gpu_name
from benchmarks.drawing import save_picture
from benchmarks.progress import WorkProgress
from benchmarks.records import Record, Records, digest
from dissensus.errors import DivergenceError
from dissensus.evaluation import environment

__all__ = ["Advance", "Report", "Results", "Run", "Task", "measure"]

TOLD = ("draws", "diagnostics", "trained_with")  # of a run, in the records made from it
MOST_TOGETHER = 4  # trainings that share a GPU: more hardly gain, and all must fit in its memory

Advance: TypeAlias = Callable[[float], None]
"""Told how much work was just done."""


class Run(ABC):
    """Something costly that leaves an archive."""

    seed: int

    @property
    @abstractmethod
    def label(self) -> str:
        """What it is, for a person: words separated by commas. The cached file is called after it."""

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """All that its archive depends on beside the label and the seed, as plain values."""

    @property
    @abstractmethod
    def inputs(self) -> Hashable:
        """Runs of equal ``inputs`` read the same data, which neighbours load once."""

    @abstractmethod
    def load(self, device: torch.device) -> Any:
        """Loads the data."""

    @cached_property
    def name(self) -> str:
        """The name of its file, without a suffix: runs of one name are one run."""
        return f"{self.label.replace(', ', '-').replace(' ', '-')}-{digest(self.settings)}"

    @property
    def training(self) -> str:
        """A name that runs share if one training serves them all."""
        return self.name

    def together(self, device: torch.device) -> Hashable:  # noqa: ARG002
        """Trainings of equal ``together`` are made together, which on a GPU takes less time."""
        return self.training

    def resumes(self, device: torch.device) -> bool:
        """Whether an interrupted training is to go on where it stopped.

        On a GPU a run takes about a minute, and writing its state in every epoch would take as long again.
        """
        return device.type == "cpu"

    @staticmethod
    @abstractmethod
    def work(runs: Sequence[Any]) -> float:
        """What these runs, made together, cost in the units of the progress bar."""

    @staticmethod
    @abstractmethod
    def make(
        runs: Sequence[Any], data: Any, advance: Advance, checkpoint: Path | None
    ) -> Iterator[tuple[Any, Archive]]:
        """Makes runs of equal ``inputs`` together, on the device the data is on.

        ``checkpoint`` is a folder for these trainings, from which interrupted ones go on.
        """


Results: TypeAlias = Mapping[str, Archive]


@dataclass(frozen=True)
class Report:
    """What a task makes of its runs: the benchmark's own part of a record."""

    rows: Sequence[Mapping[str, Any]]
    about: Mapping[str, Any] = field(default_factory=dict)
    pictures: Mapping[str, NDArray[np.uint8]] = field(default_factory=dict)
    """Small ones that a figure shows, (H, W) or (H, W, 3), by the name of their file beside the records."""


@dataclass(frozen=True, eq=False)
class Task:
    """A record to be made."""

    group: str
    name: str
    seed: int
    settings: Mapping[str, Any]
    runs: Mapping[str, Run]
    """What it is made from, by the names that ``report`` knows them by."""
    report: Callable[[Results], Report]
    keeps_divergence: bool = False
    """Whether a run that diverges is an answer: a record without rows that says so. Else it is a failure."""


def measure(
    records: Records,
    tasks: Sequence[Task],
    *,
    cache: Path,
    device: torch.device,
    console: Console,
    anew: bool = False,
    leave: Callable[[Run], bool] | None = None,
) -> list[str]:
    """Makes the records that are missing or of other settings, and returns what failed, one line each.

    Every run is cached as soon as it is made, and a record is written as soon as its runs are there, so an
    interruption loses one run at most. A chain that diverges fails the records made of it and no others. With
    ``anew`` records are made again from what is cached: a score's code has changed. With ``leave`` no
    records are made, only those of their runs of which it is true: another machine may make the records.
    """
    return _Measurement(records, tasks, cache, device, console, anew, leave).carry_out()


class _Measurement:
    def __init__(
        self,
        records: Records,
        tasks: Sequence[Task],
        cache: Path,
        device: torch.device,
        console: Console,
        anew: bool,
        leave: Callable[[Run], bool] | None,
    ) -> None:
        self.records, self.cache, self.device, self.leaves = records, cache, device, leave is not None
        found = (anew or records.find(t.group, t.name, t.seed, t.settings) is None for t in tasks)
        self.waiting = [task for task, missing in zip(tasks, found, strict=True) if missing]
        runs = {run.name: run for task in self.waiting for run in task.runs.values()}
        wanted = [run for run in runs.values() if leave is None or leave(run)]
        self.batches = _batches([run for run in wanted if not self.path(run).exists()], device)
        self.progress = WorkProgress(console, sum(batch[0].work(batch) for batch in self.batches))
        self.environment = environment(gpu=gpu_name(device))
        self.loaded: tuple[Hashable, Any] = (None, None)
        self.diverged: dict[str, str] = {}  # why, by the name of the run

    def path(self, run: Run) -> Path:
        return self.cache / f"{run.name}.npz"

    def carry_out(self) -> list[str]:
        with self.progress:
            self.write()
            for batch in self.batches:
                self.make(batch)
                self.write()
        runs = [run for task in self.waiting for run in task.runs.values() if run.name in self.diverged]
        return list(dict.fromkeys(f"{run.label}: {self.diverged[run.name]}" for run in runs))

    def make(self, batch: Sequence[Run]) -> None:
        """Makes and caches runs that go together."""
        first, work = batch[0], batch[0].work(batch)
        trainings = dict.fromkeys(run.training for run in batch)
        self.progress.begin(", ".join(dict.fromkeys(run.label for run in batch)))
        resumes = all(run.resumes(self.device) for run in batch)
        checkpoint = self.cache / f"{first.training}.checkpoint" if resumes else None
        try:
            for run, archive in first.make(batch, self.data(first), self.progress.advance, checkpoint):
                made = Archive(archive.arrays, {**archive.info, "environment": self.environment})
                made.save(self.path(run))
                self.progress.console.print(_line(run, archive), highlight=False)
        except DivergenceError as error:
            if len(trainings) > 1:  # what was made with it is not to blame
                for training in trainings:
                    self.make([run for run in batch if run.training == training])
                return
            self.diverged |= {run.name: str(error) for run in batch}
            self.progress.finish(work, f"[red]failed[/red] {first.label}: {error}")
            return
        if checkpoint is not None:
            shutil.rmtree(checkpoint, ignore_errors=True)
        self.progress.finish(work)

    def data(self, run: Run) -> Any:
        if self.loaded[0] != run.inputs:
            self.loaded = (None, None)  # two at once may not fit
            self.loaded = run.inputs, run.load(self.device)
        return self.loaded[1]

    def write(self) -> None:
        """Writes every record whose runs are there, or have diverged if that is an answer."""
        if self.leaves:
            return
        left = []
        for task in self.waiting:
            reasons = [self.diverged[run.name] for run in task.runs.values() if run.name in self.diverged]
            if reasons and task.keeps_divergence:
                self.add(task, Report([], {"diverged": reasons[0]}), {})
            elif all(self.path(run).exists() for run in task.runs.values()):
                results = {name: Archive.load(self.path(run)) for name, run in task.runs.items()}
                self.add(task, task.report(results), results)
            else:
                left.append(task)
        self.waiting = left

    def add(self, task: Task, report: Report, results: Results) -> None:
        runs = {name: {key: r.info[key] for key in TOLD if key in r.info} for name, r in results.items()}
        for name, result in results.items():
            if result.info["environment"] != self.environment:  # cached by another machine or commit
                runs[name]["environment"] = result.info["environment"]
        seconds = {
            f"{name}, {what}": value
            for name, r in results.items()
            for what, value in r.info["seconds"].items()
        }
        for file, pixels in report.pictures.items():
            save_picture(pixels, self.records.folder / file)
        self.records.add(
            task.group,
            Record(
                name=task.name,
                seed=task.seed,
                settings=task.settings,
                rows=report.rows,
                seconds=seconds,
                about={**report.about, "runs": runs} if runs else report.about,
                environment=self.environment,
                quick=self.records.quick,
            ),
        )


def _batches(runs: Sequence[Run], device: torch.device) -> list[list[Run]]:
    """Runs that are made together, in the order in which the first of each is needed."""
    kinds: dict[Hashable, dict[str, list[Run]]] = {}
    for run in runs:
        kind = (type(run), run.inputs, run.together(device))
        kinds.setdefault(kind, {}).setdefault(run.training, []).append(run)
    batches = []
    for trainings in kinds.values():
        own = list(trainings.values())
        for start in range(0, len(own), MOST_TOGETHER):
            batches.append([run for training in own[start : start + MOST_TOGETHER] for run in training])
    return batches


def _line(run: Run, archive: Archive) -> str:
    """As in ``mnist, sghmc, seed 0: 12.3 s training, 4.5 s matrix, validation log p -98.70, R̂ 1.02``."""
    found = archive.info.get("diagnostics", {})
    words = [f"{value:.1f} s {what}" for what, value in archive.info["seconds"].items()]
    if found.get("validation_log_likelihood") is not None:
        words.append(f"validation log p {found['validation_log_likelihood']:.2f}")
    if found.get("rhat") is not None:
        words.append(f"R̂ {found['rhat']:.2f}")
    return f"{run.label}: {', '.join(words)}"
