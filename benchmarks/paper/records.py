"""What a measurement leaves behind: one JSON record and, beside it, the scores it was made from.

``records/<benchmark>/<preset>/<method>-seed<n>.json`` and ``.npz``; table and figures need nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.devices import gpu_name
from benchmarks.kinds_of_records import records_of_kind
from benchmarks.paper.methods import Method, other_scores
from benchmarks.paper.presets import RunName
from benchmarks.paper.run_result import RunResult
from benchmarks.paper.runs import RunKey
from dissensus.atomic import atomic_path
from dissensus.errors import DataError
from dissensus.evaluation import auroc_interval, environment, evaluate, write_record

__all__ = [
    "RecordKey",
    "is_measured",
    "matrix_path",
    "read_all",
    "read_scores",
    "record_path",
    "write_measurement",
]


@dataclass(frozen=True)
class RecordKey:
    """Which cell of the table, and which seed."""

    benchmark: str
    method: str
    preset: str
    seed: int


def record_path(output: Path, key: RecordKey) -> Path:
    """Where the record of a cell is."""
    return output / "records" / key.benchmark / key.preset / f"{key.method.lower()}-seed{key.seed}.json"


def matrix_path(output: Path, run: RunKey) -> Path:
    """Where a run's matrices are cached."""
    return output / "matrices" / f"{run.name}.npz"


def is_measured(output: Path, key: RecordKey, runs: Mapping[RunName, RunKey]) -> bool:
    """Whether the record exists, can be read, and was made with these very settings."""
    try:
        record = json.loads(record_path(output, key).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(record.get("digests") == {name: run.digest for name, run in runs.items()})


def write_measurement(
    output: Path,
    key: RecordKey,
    method: Method,
    runs: Mapping[RunName, RunKey],
    results: Mapping[RunName, RunResult],
    *,
    quick: bool,
    device: torch.device,
) -> Path:
    """Scores the test inputs by the method and writes the record with all there is to know about it."""
    path = record_path(output, key)
    first = results[method.runs[0]]
    n = first.inliers
    scores = method.score(results)
    inliers, outliers = scores[:n], scores[n:]
    interval = auroc_interval(inliers, outliers)
    benchmark = runs[method.runs[0]].benchmark
    payload = {
        "benchmark": key.benchmark,
        "method": key.method,
        "preset": key.preset,
        "seed": key.seed,
        "quick": quick,
        "metrics": asdict(evaluate(inliers, outliers)),
        "auroc_interval_95": [interval.low, interval.high],
        "n_in": len(inliers),
        "n_out": len(outliers),
        "in_distribution": benchmark.inliers,
        "out_of_distribution": benchmark.outliers,
        "held_out_classes": list(benchmark.held_out),
        "scores": path.with_suffix(".npz").relative_to(output).as_posix(),
        "matrices": {
            name: matrix_path(output, run).relative_to(output).as_posix() for name, run in runs.items()
        },
        "digests": {name: run.digest for name, run in runs.items()},
        "settings": {name: run.settings for name, run in runs.items()},
        "draws": {name: results[name].info["draws"] for name in runs},
        "diagnostics": {name: results[name].info["diagnostics"] for name in runs},
        "seconds": {name: results[name].info["seconds"] for name in runs},
        "trained_with": {name: results[name].info.get("trained_with", []) for name in runs},
        "environment": environment(gpu=gpu_name(device)),
    }
    arrays: dict[str, NDArray[Any]] = {
        "in": inliers.astype(np.float32),
        "out": outliers.astype(np.float32),
    }
    if len(first.pictured):
        payload["other_scores"] = {
            name: asdict(evaluate(other[:n], other[n:])) for name, other in other_scores(first).items()
        }
        # Pictures are for the eye: one seed is enough of them.
        if key.seed == 0:
            arrays |= {
                "pictured": first.pictured,
                "pictures": first.pictures,
                "reconstructions": first.reconstructions,
            }
    path.parent.mkdir(parents=True, exist_ok=True)
    # The record last: where it is, its scores are.
    with atomic_path(path.with_suffix(".npz")) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]  # its third parameter is a bool by name
    write_record(path, payload)
    return path


def read_all(output: Path, *, quick: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every record of single benchmarks with its path, refused where quick and full ones are mixed."""
    return records_of_kind(output, "records", quick=quick)


def read_scores(output: Path, record: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """The arrays beside a record: ``in`` and ``out``, and pictures where there are any."""
    path = output / record["scores"]
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except Exception as error:  # on damaged bytes the parsers raise almost anything
        raise DataError(f"{path} does not hold readable scores ({error}); measure again") from error
