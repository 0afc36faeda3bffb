"""Makes what is missing: draws, matrices, records. It may be stopped at any time and goes on where it was."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

import torch
from rich.console import Console

from benchmarks.kinds_of_records import refuse_other_kind
from benchmarks.panel.configuration import RECOMMENDED, with_posterior
from benchmarks.panel.inputs import FULL, QUICK, Inputs, Sizes, load_inputs
from benchmarks.panel.records import Task, is_measured, matrix_path, write_measurement
from benchmarks.panel.run_result import PanelResult, load_result, save_result
from benchmarks.panel.runs import RunKey, execute, training_work
from benchmarks.panel.sets import InlierSet
from benchmarks.progress import WorkProgress
from dissensus.errors import DivergenceError

__all__ = ["measure", "panel_sizes", "panel_tasks", "unmeasured"]


def panel_sizes(*, quick: bool) -> Sizes:
    """How many images serve which purpose."""
    return QUICK if quick else FULL


def panel_tasks(
    inliers: Sequence[InlierSet],
    posteriors: Sequence[str],
    seeds: Sequence[int],
    *,
    sizes: Sizes,
    quick: bool,
    regret: int = 0,
) -> list[Task]:
    """The recommended configuration with each posterior; a whole seed before the next.

    With ``regret``, likelihood regret of so many images of each set besides, as records of its own.
    """
    base = RECOMMENDED.quick() if quick else RECOMMENDED
    tasks = []
    for seed, each, posterior in itertools.product(seeds, inliers, posteriors):
        key = RunKey(each, with_posterior(base, posterior), sizes, seed)
        tasks.append(Task(key, posterior))
        if regret:
            slow = replace(key, sizes=replace(sizes, regret=regret))
            tasks.append(Task(slow, posterior, scores=("likelihood-regret",)))
    return tasks


def unmeasured(output: Path, tasks: Sequence[Task], *, quick: bool) -> list[Task]:
    """Those whose record is missing, or was made with other settings or scores."""
    for folder in {task.folder for task in tasks}:
        refuse_other_kind(output, folder, quick=quick)
    return [task for task in tasks if not is_measured(output, task)]


def measure(
    output: Path, tasks: Sequence[Task], *, quick: bool, device: torch.device, console: Console
) -> list[str]:
    """Carries out the tasks and returns what failed, one line each.

    Every run is cached as soon as it is made and its records are written at once, so an interruption loses
    one run at most. A chain that diverges fails the records made of it and no others.
    """
    groups = _by_training(tasks)
    failures = []
    with WorkProgress(console, sum(_work(output, group) for group in groups)) as progress:
        # Groups that follow one another mostly share their images.
        load = lru_cache(maxsize=1)(partial(load_inputs, device=device))
        for group in groups:
            first = group[0].key
            work, label = _work(output, group), f"{first.inliers.name}, {group[0].label}, seed {first.seed}"
            progress.begin(label)
            missing = _missing(output, group)
            if missing:
                inputs = load(first.inliers, first.sizes, seed=first.seed, purpose=first.purpose)
                try:
                    _make(output, missing, inputs, progress)
                except DivergenceError as error:
                    failures.append(f"{label}: {error}")
                    progress.finish(work, f"[red]failed[/red] {label}: {error}")
                    continue
            for task in group:
                result = load_result(matrix_path(output, task.key))
                write_measurement(output, task, result, quick=quick, device=device)
            progress.finish(work, _line(label, result))
    return failures


def _make(output: Path, missing: Sequence[RunKey], inputs: Inputs, progress: WorkProgress) -> None:
    """One training, and what is missing of its matrices and statistics."""
    # On a GPU a run takes less than a minute, and writing its state in every epoch would take as long again.
    cpu = inputs.training.device.type == "cpu"
    checkpoint = output / "matrices" / f"{missing[0].training}.checkpoint" if cpu else None
    for key, result in execute(missing, inputs, advance=progress.advance, checkpoint=checkpoint):
        save_result(matrix_path(output, key), result)
    if checkpoint is not None:
        shutil.rmtree(checkpoint, ignore_errors=True)


def _by_training(tasks: Sequence[Task]) -> list[list[Task]]:
    """Tasks that one training serves, together; in the order of the first of each."""
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        groups.setdefault(task.key.training, []).append(task)
    return list(groups.values())


def _missing(output: Path, group: Sequence[Task]) -> list[RunKey]:
    keys = dict.fromkeys(task.key for task in group)
    names = {key.name: key for key in keys}  # settings that differ in the score alone are one run
    return [key for key in names.values() if not matrix_path(output, key).exists()]


def _work(output: Path, group: Sequence[Task]) -> float:
    missing = _missing(output, group)
    scorings = {(key.configuration.samples, key.configuration.noise): key for key in missing}
    return sum(key.scoring_work for key in scorings.values()) + (
        training_work(missing[0]) if missing else 0.0
    )


def _line(label: str, result: PanelResult) -> str:
    seconds, diagnostics = result.info["seconds"], result.info["diagnostics"]
    return (
        f"{label}: {seconds['training']:.1f} s training, {seconds['matrix']:.1f} s matrix, "
        f"{seconds['statistics']:.1f} s statistics, "
        f"validation log p {diagnostics['validation_log_likelihood']:.2f}"
        + (f", R̂ {diagnostics['rhat']:.2f}" if diagnostics["rhat"] is not None else "")
    )
