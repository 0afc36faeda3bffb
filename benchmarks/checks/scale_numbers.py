"""Numbers of the checks of large inputs that documents name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.checks.larger import SHARES
from benchmarks.filling.registry import Number
from benchmarks.records import Record, Records

__all__ = ["NUMBERS"]

HOUR = 3600.0
FORMATS = ("parquet", "csv")


def _record(results: Path, check: str, name: str) -> Record:
    return next(record for record in Records(results / "checks").read(check) if record.name == name)


def _scoring(results: Path) -> float:
    """Of processor time for each input, of all shards."""
    record = _record(results, "shards", "rows")
    took = sum(row["cpu_seconds"] for row in record.rows if row["run"].startswith("shard"))
    return float(took / record.settings["rows"])


def _merging(results: Path, format: str) -> float:
    """Of processor time for each input, where most of them were merged."""
    row = _merged(results, format)[-1]
    return float(row["cpu_seconds"] / row["rows"])


def _merged(results: Path, format: str) -> list[Mapping[str, Any]]:
    rows = [row for row in _record(results, "shards", "merging").rows if row["format"] == format]
    return sorted(rows, key=lambda row: int(row["rows"]))


def _rate(results: Path, seconds: Callable[[Path], float]) -> float:
    return 1 / seconds(results)


def _hours(results: Path, seconds: Callable[[Path], float], inputs: float) -> float:
    return seconds(results) * inputs / HOUR


def _about(results: Path, check: str, name: str, key: str) -> float:
    return float(_record(results, check, name).about[key])


def _setting(results: Path, check: str, name: str, key: str, unit: float = 1.0) -> float:
    return float(_record(results, check, name).settings[key]) / unit


def _beyond(results: Path, column: str) -> float:
    return float(_record(results, "larger", "beyond memory").rows[0][column])


def _times(results: Path, run: str) -> float:
    """How many times as long as the fit in memory a fit took."""
    seconds: dict[str, Any] = {
        row["run"]: row["seconds"] for row in _record(results, "larger", "within memory").rows
    }
    return float(seconds[run] / seconds["in memory"])


def _order(results: Path, share: float) -> float:
    """The mean negative log-likelihood of validation inputs over seeds, in nats."""
    records = [record for record in Records(results / "checks").read("larger") if record.name == "order"]
    return -fmean(
        row["validation_log_likelihood"]
        for record in records
        for row in record.rows
        if abs(row["share"] - share) < 1e-6
    )


NUMBERS: Mapping[str, Number] = {
    "shards.rows": partial(_setting, check="shards", name="rows", key="rows"),
    "shards.cpu": partial(_about, check="shards", name="rows", key="whole_cpu_seconds"),
    "shards.overhead": partial(_about, check="shards", name="rows", key="overhead_cpu"),
    "shards.rate": partial(_rate, seconds=_scoring),
    **{f"shards.hours.{power}": partial(_hours, seconds=_scoring, inputs=10.0**power) for power in (8, 10)},
    **{
        f"merge.rate.{format}": partial(_rate, seconds=partial(_merging, format=format)) for format in FORMATS
    },
    **{
        f"merge.hours.{format}.{power}": partial(
            _hours, seconds=partial(_merging, format=format), inputs=10.0**power
        )
        for format in FORMATS
        for power in (8, 10)
    },
    "merge.rows": lambda results: _merged(results, "parquet")[-1]["rows"],
    "merge.peak.less": lambda results: _merged(results, "parquet")[0]["peak_megabytes"],
    "merge.peak": lambda results: _merged(results, "parquet")[-1]["peak_megabytes"],
    "manifests.requeued": partial(_about, check="manifests", name="all", key="requeued"),
    "ray.gain": partial(_about, check="ray_workers", name="rows", key="gain"),
    "ray.rows": partial(_setting, check="ray_workers", name="rows", key="rows"),
    **{
        f"kills.{key}": partial(_about, check="kills", name="shards", key=key)
        for key in ("kills", "stragglers", "lost", "refused", "merge_kills")
    },
    "kills.fits": partial(_about, check="kills", name="fits", key="kills"),
    "larger.pictures": partial(_setting, check="larger", name="beyond memory", key="pictures"),
    "larger.allowed": partial(_setting, check="larger", name="beyond memory", key="memory", unit=1e6),
    "larger.input": partial(_about, check="larger", name="beyond memory", key="input_megabytes"),
    "larger.peak": partial(_beyond, column="peak_megabytes"),
    "larger.seconds": partial(_beyond, column="seconds"),
    "larger.on-disk": partial(_times, run="on disk"),
    "larger.by-blocks": partial(_times, run="by blocks"),
    **{f"larger.order.{round(1 / share)}": partial(_order, share=share) for share in SHARES},
}
