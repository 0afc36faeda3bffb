"""Part (g): a small fit beside other work, in processes of their own, over the same fit alone."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from functools import partial
from typing import Any

import torch

from benchmarks.speed.comparison import faster
from benchmarks.speed.sizes import Sizes
from benchmarks.speed.timing import median
from benchmarks.speed.worker import Worker, answer_requests

__all__ = ["measure_beside_others"]

DETECTORS = ("Detector", "BayesianVAE")
ROWS, COLUMNS = 342, 5
AT_ONCE, LOOPS = 2, 2
AT_ONCE_GOAL, LOOPS_GOAL = 2.5, 4.0  # times the seconds alone
LOOP = "while True: pass"


def measure_beside_others(sizes: Sizes, device: torch.device) -> dict[str, Any]:  # noqa: ARG001 a CPU's
    """Seconds of each detector's fit alone, of two at once, and of one beside two busy loops, in turn."""
    command = [sys.executable, "-m", "benchmarks.speed.beside_others"]
    about: dict[str, Any] = {"settings": {"rows": ROWS, "columns": COLUMNS, "rounds": sizes.rounds}}
    about |= {"fit_seconds": {}, "comparisons": []}
    with ExitStack() as stack:
        workers = [stack.enter_context(Worker(command)) for _ in range(AT_ONCE)]
        for name in DETECTORS:
            seconds = _seconds(name, workers, sizes.rounds)
            about["fit_seconds"][name] = seconds
            what = f"fit of {ROWS} × {COLUMNS} rows by {name}()"
            once, two, busy = (median(own) for own in seconds.values())
            about["comparisons"] += [
                faster(f"{what}, {AT_ONCE} at once", two, AT_ONCE_GOAL * once, "goal: 2.5 × alone").to_dict(),
                faster(f"{what}, beside {LOOPS} loops", busy, LOOPS_GOAL * once, "goal: 4 × alone").to_dict(),
            ]
    return about


def _seconds(name: str, workers: list[Worker], rounds: int) -> dict[str, list[float]]:
    alone, at_once, beside = [], [], []
    for worker in workers:
        worker.ask(name)  # not counted: imports and first calls
    for _ in range(rounds):
        alone.append(workers[0].ask(name))
        for worker in workers:
            worker.send(name)
        at_once.append(max(worker.answer(name) for worker in workers))
        loops = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(LOOPS)]
        try:
            beside.append(workers[0].ask(name))
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
    return {"alone": alone, "two at once": at_once, "beside two busy loops": beside}


def _fit(name: str) -> float:
    import time

    import numpy as np

    from dissensus import detector

    rows = np.random.default_rng(0).normal(size=(ROWS, COLUMNS))
    started = time.perf_counter()
    getattr(detector, name)(device="cpu").fit(rows)
    return time.perf_counter() - started


if __name__ == "__main__":
    answer_requests({name: partial(_fit, name) for name in DETECTORS})
