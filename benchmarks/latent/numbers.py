"""What the page of latent spaces says: its tables, from the records."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from benchmarks.filling.registry import Number, Table
from benchmarks.grids import to_markdown
from benchmarks.latent.pieces import POSTERIORS
from benchmarks.latent.table import search_grid, validity_grid
from benchmarks.records import Records

__all__ = ["NUMBERS", "TABLES"]

MEASURES = {"": validity_grid, "-search": search_grid}


def _table(results: Path, *, group: str, kind: str, posterior: str) -> str:
    records = Records(results / "latent")
    found = [record for record in records.read(group + kind) if record.name == posterior]
    grid = MEASURES[kind](posterior.replace("-", " "), found, quick=False)
    return to_markdown(grid).split("\n", 2)[2] + "\n"


NUMBERS: Mapping[str, Number] = {}
TABLES: Mapping[str, Table] = {
    f"{posterior}{kind}": partial(_table, group="expressions", kind=kind, posterior=posterior)
    for posterior in POSTERIORS
    for kind in MEASURES
}
