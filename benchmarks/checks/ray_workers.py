"""Two Ray workers beside one, on a local cluster, each with one thread: how much faster a dataset is scored.

The cluster has a CPU more than there are workers, for those who read. Only a machine with idle cores can show
a gain: the load that others put on it is recorded too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from benchmarks.checks.asked import Asked
from benchmarks.pieces import Found, Piece
from benchmarks.records import Record
from dissensus import Detector

__all__ = ["pieces", "sentences"]

ROWS, QUICK, COLUMNS = 2_000_000, 3000, 8
WORKERS = (1, 2)
TIMES = 2  # each is measured, in turn: the quicker time is the one that others disturbed less
GATE: Mapping[str, Any] = {"epochs": 5, "device": "cpu"}


def pieces(asked: Asked) -> Iterator[Piece]:
    """One dataset, scored by one worker and by two."""
    rows = QUICK if asked.quick else ROWS
    settings = {"rows": rows, "columns": COLUMNS, "workers": list(WORKERS), "gate": dict(GATE)}
    yield Piece("ray_workers", "rows", settings, partial(_measured, rows))


def sentences(records: list[Record]) -> list[str]:
    """One sentence."""
    return [
        f"Ray: two workers scored {record.settings['rows']} rows {record.about['gain']:.2f} times as fast as "
        f"one, on {record.environment['cores']} cores where others made a load of {record.about['load']:.1f}."
        for record in records
    ]


def _measured(rows: int, say: Callable[[str], None]) -> Found:
    import ray
    import ray.data

    from dissensus.integrations.ray import score_dataset

    random = np.random.default_rng(0)
    load = os.getloadavg()[0]
    data = random.normal(size=(rows, COLUMNS))
    gate = Detector(**GATE).fit(data[:5000])
    quiet = {"include_dashboard": False, "log_to_driver": False, "configure_logging": False}
    ray.init("local", num_cpus=max(WORKERS) + 1, **quiet)  # a cluster of its own, whichever others there are
    try:
        ray.data.DataContext.get_current().enable_progress_bars = False
        found = []
        dataset = ray.data.from_numpy([data]).repartition(64).materialize()
        score_dataset(gate, dataset.limit(1000), workers=1).materialize()  # what is first used is there
        for workers in WORKERS * TIMES:
            say(f"{workers} workers")
            began = time.monotonic()
            score_dataset(gate, dataset, workers=workers).materialize()
            found.append({"workers": workers, "seconds": time.monotonic() - began})
    finally:
        ray.shutdown()
    one, two = (min(row["seconds"] for row in found if row["workers"] == workers) for workers in WORKERS)
    return Found(found, {"gain": one / two, "load": load, "ray": ray.__version__})
