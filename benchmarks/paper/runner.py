"""Measures what is not yet measured: plans the runs that records lack, makes them, writes the records."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from rich.console import Console

from benchmarks.kinds_of_records import refuse_other_kind
from benchmarks.paper.benchmarks import FULL, QUICK, Benchmark, Inputs, load_inputs
from benchmarks.paper.methods import Method
from benchmarks.paper.presets import RunName, find_preset
from benchmarks.paper.records import (
    RecordKey,
    is_measured,
    matrix_path,
    write_measurement,
)
from benchmarks.paper.run_result import RunResult, load_result, save_result
from benchmarks.paper.runs import RunKey, execute
from benchmarks.progress import WorkProgress
from dissensus.errors import DivergenceError

__all__ = ["Task", "measure", "plan"]


@dataclass(frozen=True)
class Task:
    """A record to be made, and the runs it is made from."""

    record: RecordKey
    method: Method
    runs: dict[RunName, RunKey] = field(hash=False)


def plan(
    output: Path,
    benchmarks: Sequence[Benchmark],
    methods: Sequence[Method],
    presets: Sequence[str],
    seeds: Sequence[int],
    *,
    quick: bool,
) -> list[Task]:
    """The records that are missing, or were made with other settings; a whole seed before the next one."""
    refuse_other_kind(output, "records", quick=quick)
    sizes = QUICK if quick else FULL
    tasks = []
    for seed in seeds:
        for benchmark in benchmarks:
            for name in presets:
                preset = find_preset(name, quick=quick)
                for method in methods:
                    record = RecordKey(benchmark.name, method.name, name, seed)
                    runs = {run: RunKey(benchmark, run, preset, sizes, seed) for run in method.runs}
                    if not is_measured(output, record, runs):
                        tasks.append(Task(record, method, runs))
    return tasks


def measure(
    output: Path, tasks: Sequence[Task], *, quick: bool, device: torch.device, console: Console
) -> list[str]:
    """Carries out the plan and returns what failed, one line each.

    Every run is cached as soon as it is made and every record is written as soon as its runs are there, so an
    interruption loses one run at most. A chain that diverges fails its own records and no others.
    """
    runs = {run.name: run for task in tasks for run in task.runs.values()}
    pending = {name: run for name, run in runs.items() if not matrix_path(output, run).exists()}
    failures: dict[str, str] = {}
    with WorkProgress(console, sum(run.work for run in pending.values())) as progress:
        groups = dict.fromkeys((task.record.benchmark, task.record.seed) for task in tasks)
        for benchmark, seed in groups:
            own = [task for task in tasks if (task.record.benchmark, task.record.seed) == (benchmark, seed)]
            needed = {run.name: run for task in own for run in task.runs.values()}
            failures |= _make_runs(output, [r for n, r in needed.items() if n in pending], device, progress)
            results = {
                name: load_result(matrix_path(output, run))
                for name, run in needed.items()
                if name not in failures
            }
            for task in own:
                if all(run.name in results for run in task.runs.values()):
                    write_measurement(
                        output,
                        task.record,
                        task.method,
                        task.runs,
                        {short: results[run.name] for short, run in task.runs.items()},
                        quick=quick,
                        device=device,
                    )
    return [f"{name}: {reason}" for name, reason in failures.items()]


def _make_runs(
    output: Path, runs: Sequence[RunKey], device: torch.device, progress: WorkProgress
) -> dict[str, str]:
    """Makes and caches the runs of one benchmark and seed; those that diverged with their reasons."""
    if not runs:
        return {}
    inputs = load_inputs(runs[0].benchmark, runs[0].sizes, seed=runs[0].seed, device=device)
    failures: dict[str, str] = {}
    for group in _groups(runs, device):
        failures |= _make_group(output, group, inputs, progress)
    return failures


def _groups(runs: Sequence[RunKey], device: torch.device) -> list[list[RunKey]]:
    """Runs that are sampled together: on a GPU those of as many epochs, whose chains fill it better."""
    if device.type == "cpu":
        return [[run] for run in runs]
    groups: dict[int, list[RunKey]] = {}
    for run in runs:
        groups.setdefault(run.preset.sampling(run.run).epochs, []).append(run)
    return list(groups.values())


def _make_group(
    output: Path, group: Sequence[RunKey], inputs: Inputs, progress: WorkProgress
) -> dict[str, str]:
    progress.begin(f"{group[0].benchmark.name}, {' + '.join(run.run for run in group)}")
    # On a GPU a run takes about a minute, and writing its state in every epoch would take as long again.
    alone_on_cpu = len(group) == 1 and inputs.training.device.type == "cpu"
    checkpoint = matrix_path(output, group[0]).with_suffix(".checkpoint") if alone_on_cpu else None
    try:
        for run, result in execute(group, inputs, progress=progress, checkpoint=checkpoint):
            save_result(matrix_path(output, run), result)
            progress.finish(run.work, _line(_label(run), result))
    except DivergenceError as error:
        if len(group) > 1:  # what was sampled with it is not to blame
            return {
                name: reason
                for run in group
                for name, reason in _make_group(output, [run], inputs, progress).items()
            }
        progress.finish(group[0].work, f"[red]failed[/red] {_label(group[0])}: {error}")
        return {group[0].name: str(error)}
    if checkpoint is not None:
        shutil.rmtree(checkpoint, ignore_errors=True)
    return {}


def _label(run: RunKey) -> str:
    # Plain VAEs are the same in every preset.
    preset = f", {run.preset.name}" if run.run in ("bvae1", "bvae2") else ""
    return f"{run.benchmark.name}, {run.run}{preset}, seed {run.seed}"


def _line(label: str, result: RunResult) -> str:
    seconds, diagnostics = result.info["seconds"], result.info["diagnostics"]
    others = " and ".join(result.info["trained_with"])
    return (
        f"{label}: {seconds['training']:.1f} s training{others and f' with {others}'}, "
        f"{seconds['scoring']:.1f} s scoring, "
        f"validation log p {diagnostics['validation_log_likelihood']:.2f}"
        + (f", R̂ {diagnostics['rhat']:.2f}" if diagnostics["rhat"] is not None else "")
    )
