"""One fit, asked in every way: AUROC by kind of outlier, and milliseconds, by turns."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch

from benchmarks.frontier.points import POINTS, THOROUGH, decodings
from benchmarks.frontier.sets import SelectionSet, selection_set
from benchmarks.pieces import Found
from dissensus.defaults import STATISTIC
from dissensus.detector import BayesianVAE
from dissensus.detector.effort import Effort
from dissensus.detector.learnt import Learnt
from dissensus.detector.levels import make_level
from dissensus.detector.measuring import scores_of
from dissensus.detector.parts import part_fractions
from dissensus.evaluation import auroc
from dissensus.inputs import split
from dissensus.models.inputs import to_tensor

__all__ = ["measure_frontier"]

BATCH, ROUNDS = 128, 5


def measure_frontier(settings: Mapping[str, Any], seed: int, say: Callable[[str], None]) -> Found:
    """The rows: a point, a kind of outlier and the AUROC; and what each point costs."""
    chosen = selection_set(
        settings["dataset"],
        tuple(settings["left_out"]),
        fitted=settings["fitted"],
        inliers=settings["inliers"],
        outliers=settings["outliers"],
        seed=seed,
    )
    gate = BayesianVAE(random_state=seed, epochs=settings["epochs"], device=settings["device"])
    began = time.perf_counter()
    gate.fit(chosen.fitted, on_progress=lambda stage, done, total: say(f"{stage} {done / total:.0%}"))
    fitting = time.perf_counter() - began
    asked = _asked(gate, chosen, say)
    rows = []
    for name, learnt in asked.items():
        say(f"asking {name}")
        inliers = _scores(gate, learnt, chosen.inliers)
        rows += [
            {"point": name, "outliers": kind, "auroc": auroc(inliers, _scores(gate, learnt, outliers))}
            for kind, outliers in chosen.outliers.items()
        ]
    say("timing")
    about = {
        "decodings": {
            n: decodings(e, draws=len(gate.draws_), samples=gate.samples) for n, e in POINTS.items()
        },
        "milliseconds": _times(gate, asked, chosen.inliers),
        "batch": BATCH,
        "threads": torch.get_num_threads(),
        "load_average": list(os.getloadavg()),  # above the number of cores, others worked here too
        "fitted_rows": dict(gate.fitted_rows_),
    }
    return Found(rows, about, {"fit": fitting})


def _asked(gate: BayesianVAE, chosen: SelectionSet, say: Callable[[str], None]) -> dict[str, Learnt]:
    """The fit as every point asks it, each with its own score; the last inliers stand for a calibration."""
    read = gate.preprocessor_.read(chosen.fitted).array
    rows = split(len(read), part_fractions(len(read)), seed=gate.seed_)
    validation, some = read[rows["validation"]], read[rows["calibration"]][:1]
    found: dict[str, Learnt] = {}
    for name, effort in POINTS.items():
        say(f"learning {name}")
        found[name] = gate.learnt_ if name == THOROUGH else _level(gate, effort, validation, some)
    return found


def _level(gate: BayesianVAE, effort: Effort, validation: Any, some: Any) -> Learnt:
    device = torch.device(gate.device)
    seen = [[(own, to_tensor(gate.preprocessor_.transform(own)))] for own in (validation, some)]
    level = make_level(gate.learnt_, effort, STATISTIC, *seen, inliers=len(validation), device=device)
    return replace(gate.learnt_, **vars(level), levels={})


def _scores(gate: BayesianVAE, learnt: Learnt, images: Any) -> Any:
    return scores_of(learnt, gate.preprocessor_.read(images).array, device=torch.device(gate.device))


def _times(gate: BayesianVAE, asked: Mapping[str, Learnt], images: Any) -> dict[str, dict[str, float]]:
    """The median milliseconds for one image and for a batch, of several rounds in which each has its turn."""
    taken: dict[str, dict[str, list[float]]] = {name: {"one": [], "batch": []} for name in asked}
    for number in range(ROUNDS + 1):
        for name, learnt in asked.items():
            for kind, some in (("one", images[:1]), ("batch", images[:BATCH])):
                began = time.perf_counter()
                _scores(gate, learnt, some)
                if number:  # the first round makes what the others use
                    taken[name][kind].append(1e3 * (time.perf_counter() - began))
    return {
        name: {kind: float(statistics.median(own)) for kind, own in kinds.items()}
        for name, kinds in taken.items()
    }
