"""What the page of latent spaces says, from the records of expressions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from statistics import fmean

from benchmarks.filling.registry import Number, Table
from benchmarks.grids import to_markdown
from benchmarks.latent.table import plane_grid, search_grid, validity_grid
from benchmarks.latent.validity import SCORES
from benchmarks.records import Record, Records

__all__ = ["NUMBERS", "TABLES"]

OWN = "shared-encoder"
KINDS = {"prior": "prior", "2-prior": "2 × prior", "5-prior": "5 × prior", "between": "between codes"}


def _records(results: Path) -> list[Record]:
    return [record for record in Records(results / "latent").read("expressions") if record.name == OWN]


def _auroc(results: Path, *, kind: str, score: str) -> float:
    rows = [row for record in _records(results) for row in record.rows if row["points"] == kind]
    return fmean(row[score] for row in rows if row[score] is not None)


def _validity(results: Path) -> str:
    grid = validity_grid(OWN, _records(results), quick=False)
    return to_markdown(grid).split("\n", 2)[2] + "\n"


def _search(results: Path) -> str:
    found = [each for each in Records(results / "latent").read("expressions-search") if each.name == OWN]
    return to_markdown(search_grid(OWN, found, quick=False)).split("\n", 2)[2] + "\n"


def _plane(results: Path) -> str:
    return (
        to_markdown(plane_grid(Records(results / "latent").read("plane"), quick=False)).split("\n", 2)[2]
        + "\n"
    )


NUMBERS: Mapping[str, Number] = {
    f"{name}.{score}": partial(_auroc, kind=kind, score=score)
    for name, kind in KINDS.items()
    for score in SCORES
}
TABLES: Mapping[str, Table] = {OWN: _validity, f"{OWN}-search": _search, "plane": _plane}
