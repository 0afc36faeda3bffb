"""The tables of latent spaces, from records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from benchmarks.grids import Grid, mean_and_spread, quick_title
from benchmarks.latent.pieces import POSTERIORS
from benchmarks.latent.validity import SCORES
from benchmarks.records import Record, Records

__all__ = ["LATENT_NOTE", "acquired_grid", "latent_grids", "plane_grid", "search_grid", "validity_grid"]

LATENT_NOTE = (
    "AUROC of invalid against valid decodings, higher is better; mean and spread over seeds. Kinds of points "
    "that decode to one sort alone have none. Search: the distance is log(1 + MSE), lower is better."
)
LANGUAGES = ("expressions", "molecules")


def latent_grids(records: Records) -> list[Grid]:
    """Validity and search of each language, and what was acquired."""
    grids = []
    for name in LANGUAGES:
        for posterior in POSTERIORS:
            found = [record for record in records.read(name) if record.name == posterior]
            title = f"{name}, {posterior.replace('-', ' ')}"
            if found:
                grids.append(validity_grid(title, found, quick=records.quick))
            found = [record for record in records.read(f"{name}-search") if record.name == posterior]
            if found:
                grids.append(search_grid(title, found, quick=records.quick))
    if found := records.read("acquire"):
        grids.append(acquired_grid(found, quick=records.quick))
    if found := records.read("plane"):
        grids.append(plane_grid(found, quick=records.quick))
    if found := records.read("timing"):
        lines = tuple(
            (record.name, *(f"{value:.3g}" for value in record.rows[0].values())) for record in found
        )
        head = ("device", *found[0].rows[0])
        grids.append(Grid(quick_title("Disagreement with gradients", records.quick), head, lines))
    return grids


def plane_grid(found: Sequence[Record], *, quick: bool) -> Grid:
    """What a search for ink proposes in a plane, with and without the gate."""
    columns = ("ink", "within the limit", "flagged")
    lines = tuple(
        (row["arm"], *(_words([row[column]]) for column in columns))
        for record in found
        for row in record.rows
    )
    return Grid(quick_title("Search for ink", quick), ("arm", *columns), lines)


def acquired_grid(found: Sequence[Record], *, quick: bool) -> Grid:
    """Held-out log p by way and size, the mean over seeds."""
    sizes = list(dict.fromkeys(row["images"] for record in found for row in record.rows))
    values: dict[tuple[str, int], list[float]] = {}
    for record in found:
        for row in record.rows:
            values.setdefault((row["way"], row["images"]), []).append(row["held-out log p"])
    ways = list(dict.fromkeys(way for way, _ in values))
    lines = tuple((way, *(f"{fmean(values[way, size]):.2f}" for size in sizes)) for way in ways)
    return Grid(quick_title("Held-out log p by images", quick), ("way", *map(str, sizes)), lines)


def validity_grid(name: str, found: Sequence[Record], *, quick: bool) -> Grid:
    """The share of valid decodings and every score's AUROC, a line for each kind of points."""
    kinds = list(dict.fromkeys(row["points"] for record in found for row in record.rows))
    columns = ("valid", *SCORES, "valid where agreed")
    lines = []
    for kind in kinds:
        rows = [row for record in found for row in record.rows if row["points"] == kind]
        lines.append((kind, *(_words([row[column] for row in rows]) for column in columns)))
    return Grid(quick_title(f"Valid decodings: {name}", quick), ("points", *columns), tuple(lines))


def search_grid(name: str, found: Sequence[Record], *, quick: bool) -> Grid:
    """The best distance and the share of valid proposals, with and without the gate."""
    columns = ("known best", "best", "tenth", "valid", "evaluated")
    arms: dict[str, list[Mapping[str, Any]]] = {}
    for record in found:
        for each in record.rows:
            arms.setdefault(each["arm"], []).append(each)
    lines = tuple(
        (arm, *(_words([each[column] for each in rows]) for column in columns)) for arm, rows in arms.items()
    )
    return Grid(quick_title(f"Search: {name}", quick), ("arm", *columns), lines)


def _words(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    return mean_and_spread(known) if known else "–"
