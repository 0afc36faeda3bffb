"""One detector on one table with one seed: fitted, asked, and put into one row.

False alarms are counted in the same way for all. Some of the rows to fit on are set aside, those that
``Detector`` sets aside, and how unusual a normal test row is among these decides whether it raises an alarm
at 5%. Ours set them aside themselves. A detector that does not is fitted once more without them, for this
number alone: its other numbers are those of the fit on all rows, which is the best it can do.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from benchmarks.tables.contract import Fitted, TableDetector
from benchmarks.tables.sets import FloatArray, Parts, contaminated, halves
from dissensus.decisions import conformal_p_values
from dissensus.detector.parts import part_fractions
from dissensus.evaluation import auprc, auroc
from dissensus.inputs import split

__all__ = ["FALSE_ALARM_RATE", "Job", "Outcome", "about_parts", "measure", "parts_of"]

FALSE_ALARM_RATE = 0.05


@dataclass(frozen=True)
class Job:
    """What one record is made of."""

    group: str
    path: Path
    seed: int
    detector: TableDetector
    share: float | None = None
    """Of anomalies among the rows to fit on; None: there are none."""


class Outcome(NamedTuple):
    """What there is to record of a job."""

    row: Mapping[str, Any]
    seconds: Mapping[str, float] = {}
    about: Mapping[str, Any] = {}


def measure(job: Job) -> Outcome:
    """Fit and ask, on one core; whatever error there is, a person would have got it, and it is recorded."""
    torch.set_num_threads(1)
    parts = parts_of(job)
    row = about_parts(job, parts)
    try:
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            return _measured(job, parts, row)
    except Exception as error:
        return Outcome(row | {"error": f"{type(error).__name__}: {error}"})


def parts_of(job: Job) -> Parts:
    """Which rows serve which purpose."""
    if job.share is None:
        return halves(job.path, job.seed)
    return contaminated(job.path, job.seed, job.share)


def about_parts(job: Job, parts: Parts) -> dict[str, Any]:
    """The columns of a row that are known before any fit."""
    train, normal, strange = parts
    return {
        "rows": len(train),
        "columns": train.shape[1],
        "normal": len(normal),
        "strange": len(strange),
        "calibration": len(_set_aside(len(train), job.seed)),
        "contaminated": job.share,
    }


def _measured(job: Job, parts: Parts, row: Mapping[str, Any]) -> Outcome:
    # Seconds of this process on its one core, whatever else the machine does meanwhile.
    started = time.process_time()
    fitted = job.detector.fit(parts.train, seed=job.seed, contamination=job.share)
    fit = time.process_time() - started
    scores = fitted.score(np.concatenate([parts.normal, parts.strange]))
    seconds = {"fit": fit, "score": time.process_time() - started - fit}
    one, other = scores[: len(parts.normal)], scores[len(parts.normal) :]
    found = {
        "auroc": auroc(one, other),
        "average_precision": auprc(one, other, positive="out"),
        "false_alarms": float((_p_values(job, fitted, parts, one) <= FALSE_ALARM_RATE).mean()),
    }
    return Outcome({**row, **found}, seconds, fitted.describe(parts.normal, parts.strange))


def _p_values(job: Job, fitted: Fitted, parts: Parts, scores: FloatArray) -> FloatArray:
    """Of the normal test rows."""
    if fitted.p_values is not None:
        return fitted.p_values(scores)
    aside = _set_aside(len(parts.train), job.seed)
    rows = np.delete(parts.train, aside, axis=0)
    again = job.detector.fit(rows, seed=job.seed, contamination=job.share)
    return conformal_p_values(again.score(parts.train[aside]), again.score(parts.normal))


def _set_aside(rows: int, seed: int) -> Any:
    """The numbers of the rows that ``Detector`` would calibrate on."""
    return split(rows, part_fractions(rows), seed=seed)["calibration"]
