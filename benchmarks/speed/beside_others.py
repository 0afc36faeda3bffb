"""Part (g): a small fit beside other work, in processes of their own, over the same fit alone."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from typing import Any

import torch

from benchmarks.speed.comparison import faster
from benchmarks.speed.sizes import Sizes
from benchmarks.speed.timing import median
from benchmarks.speed.worker import Worker, answer_requests

__all__ = ["measure_beside_others"]

ROWS, COLUMNS = 342, 5
AT_ONCE, LOOPS = 2, 2
AT_ONCE_GOAL, LOOPS_GOAL = 2.5, 4.0  # times the seconds alone
LOOP = "while True: pass"


def measure_beside_others(sizes: Sizes, device: torch.device) -> dict[str, Any]:  # noqa: ARG001 a CPU's
    """Seconds of a fit alone, of two at once, and of one beside two busy loops, in turn."""
    command = [sys.executable, "-m", "benchmarks.speed.beside_others"]
    alone, at_once, beside = [], [], []
    with ExitStack() as stack:
        workers = [stack.enter_context(Worker(command)) for _ in range(AT_ONCE)]
        for worker in workers:
            worker.ask("fit")  # not counted: imports and first calls
        for _ in range(sizes.rounds):
            alone.append(workers[0].ask("fit"))
            for worker in workers:
                worker.send("fit")
            at_once.append(max(worker.answer("fit") for worker in workers))
            loops = [subprocess.Popen([sys.executable, "-c", LOOP]) for _ in range(LOOPS)]
            try:
                beside.append(workers[0].ask("fit"))
            finally:
                for loop in loops:
                    loop.kill()
                    loop.wait()
    what = f"fit of {ROWS} × {COLUMNS} rows"
    once, two, busy = (median(own) for own in (alone, at_once, beside))
    return {
        "settings": {"rows": ROWS, "columns": COLUMNS, "rounds": sizes.rounds},
        "fit_seconds": {"alone": alone, "two at once": at_once, "beside two busy loops": beside},
        "ratios": {"two at once": two / once, "beside two busy loops": busy / once},
        "comparisons": [
            faster(f"{what}, {AT_ONCE} at once", two, AT_ONCE_GOAL * once, "goal: 2.5 × alone").to_dict(),
            faster(f"{what}, beside {LOOPS} loops", busy, LOOPS_GOAL * once, "goal: 4 × alone").to_dict(),
        ],
    }


def _fit() -> float:
    import time

    import numpy as np

    from dissensus.detector import BayesianVAE

    rows = np.random.default_rng(0).normal(size=(ROWS, COLUMNS))
    started = time.perf_counter()
    BayesianVAE(device="cpu").fit(rows)
    return time.perf_counter() - started


if __name__ == "__main__":
    answer_requests({"fit": _fit})
