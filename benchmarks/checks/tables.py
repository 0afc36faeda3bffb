"""The default detector on every table of a folder, beside the fifth nearest neighbour.

A table is ``NAME.npz`` with rows X and labels y, 1 for anomalies. Half of the distinct normal rows are fitted
on; the other half and all anomalies are asked about. A fit that ends in an error is recorded as one.
"""

from __future__ import annotations

import multiprocessing
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.checks.asked import Asked
from benchmarks.pieces import Found, Piece
from benchmarks.records import Record
from dissensus import BayesianVAE
from dissensus.errors import SettingsError
from dissensus.evaluation import auroc
from dissensus.seeding import numpy_stream

__all__ = ["KINDS", "mean_auroc", "pieces", "sentences"]

NEIGHBOUR = 5
SHOWN = ("fused", "mixture-ll", "corrected-ll", "ess", "neighbours")
EMBEDDED = 500  # columns and more: rows of such a set are embeddings, not measurements
KINDS = ("tables", "embeddings")
FEW = 2  # tables, to try it out


def pieces(asked: Asked) -> Iterator[Piece]:
    """All tables, once for each seed."""
    # The longest first, so that no process is left alone with it.
    paths = sorted(asked.tables.glob("*.npz"), key=lambda path: -path.stat().st_size)
    if not paths:
        raise SettingsError(f"there are no tables in {asked.tables}: name a folder of them with --tables")
    paths = paths[-FEW:] if asked.quick else paths
    settings = {"detector": "BayesianVAE as it comes", "sets": sorted(path.stem for path in paths)}
    for seed in asked.seeds:
        yield Piece("tables", "sets", settings, partial(_measured, paths, seed, asked.workers), seed)


def of_kind(records: Sequence[Record], kind: str) -> list[dict[str, Any]]:
    """The rows of tables or of embeddings, of all seeds."""
    embedded = kind == "embeddings"
    return [
        dict(row) for record in records for row in record.rows if (row["columns"] >= EMBEDDED) is embedded
    ]


def mean_auroc(records: Sequence[Record], kind: str, score: str) -> float:
    """Over all fits of a kind that did not end in an error."""
    return fmean(row[score] for row in of_kind(records, kind) if not row.get("error"))


def sentences(records: list[Record]) -> list[str]:
    """One sentence a kind of set."""
    said = []
    for kind in KINDS:
        if rows := of_kind(records, kind):
            failed = sum(bool(row.get("error")) for row in rows)
            areas = ", ".join(f"{name} {mean_auroc(records, kind, name):.3f}" for name in SHOWN)
            alarms = fmean(row["false_alarms"] for row in rows if not row.get("error"))
            said.append(
                f"{kind}: {len(rows)} fits, {failed} errors; AUROC {areas}; {alarms:.1%} false alarms."
            )
    return said


def _measured(paths: Sequence[Path], seed: int, workers: int, say: Callable[[str], None]) -> Found:
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        rows = []
        for row in pool.map(partial(_fitted, seed=seed), paths):
            rows.append(row)
            say(f"{len(rows)} of {len(paths)} sets")
    return Found(sorted(rows, key=lambda row: str(row["set"])), {"workers": workers})


def _fitted(path: Path, seed: int) -> dict[str, Any]:
    """What there is to record of one fit."""
    torch.set_num_threads(1)
    train, normal, strange = _halves(path, seed)
    row: dict[str, Any] = {"set": path.stem, "rows": len(train), "columns": train.shape[1]}
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gate = BayesianVAE(random_state=seed, device="cpu").fit(train)
            row["seconds"] = time.perf_counter() - started
            one, other = gate.statistics(normal), gate.statistics(strange)
            row["false_alarms"] = float((gate.p_values(normal) <= gate.false_alarm_rate).mean())
    except Exception as error:  # whatever it is, a person would have got it
        return row | {"error": f"{type(error).__name__}: {error}"}
    row["restarts"] = len(gate.draws_.diagnostics.restarts)
    row |= {name: auroc(one[name], other[name]) for name in SHOWN if name in one}
    row["neighbours"] = auroc(*(_distance(train, rows) for rows in (normal, strange)))
    return row


def _halves(path: Path, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
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
