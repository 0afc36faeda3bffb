"""What a measurement leaves behind: one JSON record a run, with a row for each kind of outlier and score."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import torch

from benchmarks.devices import gpu_name
from benchmarks.kinds_of_records import records_of_kind
from benchmarks.panel.configuration import RECOMMENDED
from benchmarks.panel.power import FALSE_DISCOVERY_RATE, MIX
from benchmarks.panel.rows import Row, measured_rows
from benchmarks.panel.run_result import PanelResult
from benchmarks.panel.runs import RunKey
from benchmarks.panel.scores import FUSIONS, PANEL_SCORES
from dissensus.evaluation import environment, write_record
from dissensus.scores import Fused

__all__ = [
    "Folder",
    "Task",
    "has_scores",
    "is_measured",
    "matrix_path",
    "read_rows",
    "record_path",
    "write_measurement",
]

Folder: TypeAlias = Literal["records", "selection", "ablation"]


@dataclass(frozen=True)
class Task:
    """A record to be made."""

    key: RunKey
    label: str
    """What the rows call the posterior."""
    folder: Folder = "records"
    about: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """More for the record."""
    scores: tuple[str, ...] | None = None
    """``None``: all of the panel. Others have a record of their own."""


def record_path(output: Path, task: Task) -> Path:
    """Where the record is."""
    name = "-".join([task.label, *(task.scores or ()), f"seed{task.key.seed}.json"])
    return output / task.folder / task.key.inliers.name / name


def matrix_path(output: Path, key: RunKey) -> Path:
    """Where a run's matrix and statistics are cached."""
    return output / "matrices" / f"{key.name}.npz"


def is_measured(output: Path, task: Task) -> bool:
    """Whether the record exists, can be read, and has these scores of a run with these very settings.

    More scores do no harm: a candidate that was dropped since is no reason to measure the others again.
    """
    try:
        record = json.loads(record_path(output, task).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(
        record.get("digest") == task.key.digest
        and has_scores(record.get("scoring"))
        and record.get("recommended_score") == _recommended_score(task)
    )


def write_measurement(
    output: Path, task: Task, result: PanelResult, *, quick: bool, device: torch.device
) -> Path:
    """Scores all sections in all ways and writes the record with all there is to know about it."""
    key, path = task.key, record_path(output, task)
    recommended = _recommended_score(task)
    rows = measured_rows(
        key.inliers,
        result,
        posterior=task.label,
        recommended_score=recommended,
        seed=key.seed,
        only=task.scores,
    )
    write_record(
        path,
        {
            "inliers": key.inliers.name,
            "posterior": task.label,
            "seed": key.seed,
            "quick": quick,
            **task.about,
            "recommended_score": recommended,
            "digest": key.digest,
            "matrix": matrix_path(output, key).relative_to(output).as_posix(),
            "settings": key.settings,
            "scoring": _scoring(),
            "draws": result.info["draws"],
            "diagnostics": result.info["diagnostics"],
            "seconds": result.info["seconds"],
            "environment": environment(gpu=gpu_name(device)),
            "rows": [asdict(row) for row in rows],
        },
    )
    return path


def read_rows(output: Path, folder: Folder, *, quick: bool) -> Iterator[tuple[Row, str, Mapping[str, Any]]]:
    """Every row of every record, with the record's path and the record."""
    for path, record in records_of_kind(output, folder, quick=quick):
        for row in record["rows"]:
            yield Row(**row), path, record


def has_scores(recorded: Any) -> bool:
    """Whether a record's scores, and what they depend on, are those made today, perhaps among others."""
    wanted = _scoring()
    if not isinstance(recorded, dict) or set(recorded) != set(wanted):
        return False
    fusions, scores = recorded["fusions"], recorded["scores"]
    return (
        isinstance(fusions, dict)
        and isinstance(scores, list)
        and fusions.items() >= wanted["fusions"].items()
        and all(name in scores for name in wanted["scores"])
        and all(recorded[name] == wanted[name] for name in wanted if name not in ("fusions", "scores"))
    )


def _recommended_score(task: Task) -> str | None:
    """The score that makes this run the recommended detector; None if its settings are others."""
    wanted = (RECOMMENDED, RECOMMENDED.quick())
    return task.key.configuration.score if task.key.configuration in wanted else None


def _scoring() -> dict[str, Any]:
    """What the numbers depend on beside the run."""
    fusions = {
        name: {"of": each.of, "depth": each.depth, "leading": list(each.leading)}
        for name, each in FUSIONS.items()
    }
    return {
        "scores": list(PANEL_SCORES),
        "fusions": fusions,
        "fused_of_draws": list(Fused.PARTS),
        "false_discovery_rate": FALSE_DISCOVERY_RATE,
        "mixes": MIX,
    }
