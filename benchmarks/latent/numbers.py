"""What the page of latent spaces says, from the records."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from statistics import fmean

from benchmarks.filling.registry import Number, Table
from benchmarks.grids import Grid, to_markdown
from benchmarks.latent.table import acquired_grid, plane_grid, search_grid, validity_grid
from benchmarks.latent.validity import SCORES
from benchmarks.records import Record, Records

__all__ = ["NUMBERS", "TABLES"]

OWN = "shared-encoder"
KINDS = {"prior": "prior", "2-prior": "2 × prior", "5-prior": "5 × prior", "between": "between codes"}


def _records(results: Path, group: str, name: str = OWN) -> list[Record]:
    return [record for record in Records(results / "latent").read(group) if record.name == name]


def _auroc(results: Path, *, kind: str, score: str) -> float:
    rows = [row for record in _records(results, "expressions") for row in record.rows]
    return fmean(row[score] for row in rows if row["points"] == kind and row[score] is not None)


def _timing(results: Path, *, device: str, column: str) -> float:
    (record,) = _records(results, "timing", device)
    return float(record.rows[0][column])


def _lines(grid: Grid) -> str:
    """A table without its title."""
    return to_markdown(grid).split("\n", 2)[2] + "\n"


def _validity(results: Path, *, group: str, name: str) -> str:
    return _lines(validity_grid(name, _records(results, group, name), quick=False))


def _search(results: Path) -> str:
    return _lines(search_grid(OWN, _records(results, "expressions-search"), quick=False))


def _acquired(results: Path) -> str:
    return _lines(acquired_grid(_records(results, "acquire", "fashion-mnist"), quick=False))


def _plane(results: Path) -> str:
    return _lines(plane_grid(Records(results / "latent").read("plane"), quick=False))


NUMBERS: Mapping[str, Number] = {
    **{
        f"{name}.{score}": partial(_auroc, kind=kind, score=score)
        for name, kind in KINDS.items()
        for score in SCORES
    },
    **{
        f"timing.{device}.{name}": partial(_timing, device=device, column=column)
        for device in ("cuda", "cpu")
        for name, column in (("seconds", "seconds"), ("times-cheaper", "times cheaper"))
    },
}
TABLES: Mapping[str, Table] = {
    OWN: partial(_validity, group="expressions", name=OWN),
    "one-chain": partial(_validity, group="expressions", name="one-chain"),
    "molecules": partial(_validity, group="molecules", name=OWN),
    f"{OWN}-search": _search,
    "acquire": _acquired,
    "plane": _plane,
}
