"""Fits the default detector on every table of a folder, beside the fifth nearest neighbour, and records both.

``python tools/fit_every_table.py FOLDER RECORD.json --workers 16 --seeds 0,1,2``. A table is ``NAME.npz``
with rows X and labels y, 1 for anomalies. Half of the distinct normal rows are fitted on; the other half and
all anomalies are asked about. A fit that ends in an error is recorded as one.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from dissensus import BayesianVAE
from dissensus.evaluation import auroc, environment, write_record
from dissensus.seeding import numpy_stream

NEIGHBOUR = 5
SHOWN = ("fused", "mixture-ll", "corrected-ll", "ess", "neighbours")
EMBEDDED = 500  # columns and more: rows of such a set are embeddings, not measurements


def main() -> None:
    """Fits, records and prints the means."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    asked.add_argument("record", type=Path)
    asked.add_argument("--workers", type=int, default=1)
    asked.add_argument("--seeds", default="0")
    given = asked.parse_args()
    seeds = [int(seed) for seed in given.seeds.split(",")]
    tables = sorted(given.folder.glob("*.npz"), key=lambda path: -path.stat().st_size)  # the longest first
    with ProcessPoolExecutor(given.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        jobs = [pool.submit(measured, path, seed) for path in tables for seed in seeds]
        rows = [job.result() for job in jobs]
    write_record(given.record, {"settings": "as they come", **environment(), "rows": rows})
    for kind, some in (
        ("tables", [row for row in rows if row["columns"] < EMBEDDED]),
        ("embeddings", [row for row in rows if row["columns"] >= EMBEDDED]),
    ):
        fine = [row for row in some if "error" not in row]
        if not fine:
            continue
        means = {name: round(statistics.fmean(row["auroc"][name] for row in fine), 3) for name in SHOWN}
        alarms = statistics.fmean(row["false_alarms"] for row in fine)
        print(f"{kind}: {len(some)} fits, {len(some) - len(fine)} errors, {means}, alarms {alarms:.3f}")  # noqa: T201


def measured(path: Path, seed: int) -> dict[str, Any]:
    """What there is to record of one fit."""
    torch.set_num_threads(1)
    train, normal, strange = halves(path, seed)
    row: dict[str, Any] = {"set": path.stem, "seed": seed, "rows": len(train), "columns": train.shape[1]}
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gate = BayesianVAE(random_state=seed, device="cpu").fit(train)
            row["seconds"] = round(time.perf_counter() - started, 2)
            one, other = gate.statistics(normal), gate.statistics(strange)
            row["false_alarms"] = float((gate.p_values(normal) <= gate.false_alarm_rate).mean())
    except Exception as error:  # whatever it is, a person would have got it
        return row | {"error": f"{type(error).__name__}: {error}"}
    row["restarts"] = len(gate.draws_.diagnostics.restarts)
    row["auroc"] = {name: round(auroc(one[name], other[name]), 4) for name in SHOWN if name in one}
    row["auroc"]["neighbours"] = round(auroc(*(_distance(train, rows) for rows in (normal, strange))), 4)
    return row


def halves(path: Path, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Rows to fit on, other normal rows, and anomalies; no row is among both halves."""
    with np.load(path) as content:
        X, y = content["X"].astype(np.float64), content["y"]
    normal = np.unique(X[y == 0], axis=0)
    order = numpy_stream(seed, "halves", path.stem).permutation(len(normal))
    return normal[order[: len(normal) // 2]], normal[order[len(normal) // 2 :]], X[y == 1]


def _distance(train: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """To the fifth nearest training row, columns standardised."""
    from sklearn.neighbors import NearestNeighbors
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(train)
    found = NearestNeighbors(n_neighbors=NEIGHBOUR).fit(scaler.transform(train))
    distances: NDArray[np.float64] = found.kneighbors(scaler.transform(rows))[0][:, -1]
    return distances


if __name__ == "__main__":
    main()
