"""All that is to be measured, and measuring what has no record yet."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.records import Record, Records, digest
from benchmarks.tables.contract import TableDetector
from benchmarks.tables.measure import Job, Outcome, about_parts, measure, parts_of
from benchmarks.tables.processes import in_processes
from benchmarks.tables.sets import LEAST_SHARE, MOST_SHARE, contaminated_shares
from dissensus.evaluation import environment

__all__ = ["CONTAMINATED", "jobs_of", "measure_jobs"]

CONTAMINATED = "contaminated-"
"""What the groups of contaminated tables begin with."""


def jobs_of(
    detectors: Mapping[str, TableDetector],
    paths: Sequence[Path],
    seeds: Sequence[int],
    log: Console,
    *,
    contaminated: bool = False,
) -> list[Job]:
    """Every detector that is here, with every table and seed; a sentence for each that is not here."""
    shares: Mapping[str, float | None] = dict.fromkeys(path.stem for path in paths)
    if contaminated:
        shares = contaminated_shares(paths)
    jobs = []
    for name, detector in detectors.items():
        if lacking := detector.lacking():
            log.print(lacking, style="yellow", markup=False)
            continue
        group = f"{CONTAMINATED}{name}" if contaminated else name
        jobs += [
            Job(group, path, seed, detector, shares[path.stem])
            for path in paths
            if path.stem in shares
            for seed in seeds
        ]
    return jobs


def measure_jobs(
    records: Records, jobs: Sequence[Job], workers: int, log: Console, *, again: bool = False
) -> None:
    """Measure what has no record of the same settings, or everything ``again``; a record at a time."""
    settings = {job.group: _settings(job) for job in jobs}
    known = {
        group: {(each.name, each.seed): digest(each.settings) for each in records.read(group)}
        for group in settings
    }
    left = [
        job
        for job in jobs
        if again or known[job.group].get((job.path.stem, job.seed)) != digest(settings[job.group])
    ]
    if len(left) < len(jobs):
        log.print(f"{len(jobs) - len(left)} of {len(jobs)} were measured with the same settings (--again)")
    here = environment()
    started = time.perf_counter()
    with log.status("measuring") as status:
        for number, (job, found) in enumerate(in_processes(measure, left, workers), 1):
            outcome = found if isinstance(found, Outcome) else _died(job, found)
            records.add(job.group, _record(job, outcome, settings[job.group], here, quick=records.quick))
            if error := outcome.row.get("error"):
                log.print(f"{job.group}, {job.path.stem}, seed {job.seed}: {error}", markup=False)
            minutes = (time.perf_counter() - started) / 60
            status.update(f"{number} of {len(left)} after {minutes:.0f} min; last: {job.group}")


def _settings(job: Job) -> dict[str, Any]:
    """The same for all tables of a group, so that records of several can be told."""
    share = None if job.share is None else {"from": LEAST_SHARE, "to": MOST_SHARE, "told": True}
    return {"detector": job.detector.settings(), "fitted_on": "half of the rows", "contaminated": share}


def _record(
    job: Job, outcome: Outcome, settings: Mapping[str, Any], here: Mapping[str, Any], *, quick: bool
) -> Record:
    seconds = outcome.seconds and {"all": sum(outcome.seconds.values()), **outcome.seconds}
    return Record(job.path.stem, job.seed, settings, [outcome.row], seconds, outcome.about, here, quick)


def _died(job: Job, error: Exception) -> Outcome:
    row = about_parts(job, parts_of(job))
    return Outcome(row | {"error": f"the process died: {type(error).__name__}"})
