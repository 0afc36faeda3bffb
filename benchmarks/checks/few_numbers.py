"""Tables of the checks of few inputs and of one absurd value that documents show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.filling.formats import formatted
from benchmarks.filling.registry import Table
from benchmarks.records import Record, Records

__all__ = ["TABLES"]


def _read(results: Path, check: str) -> list[Record]:
    return Records(results / "checks").read(check)


def _few_rows(results: Path) -> str:
    """The worst of ten seeds and of ten splits, beside the 5th nearest row of the same splits."""
    lines = [
        "| | worst AUROC | 5th nearest row, worst | malignant found, worst | benign flagged, mean |",
        "|---|---|---|---|---|",
    ]
    for record in _read(results, "few"):
        if record.seed is not None:
            continue
        _, detector, kind = record.name.split(", ")
        worst = {
            column: min(float(row[column]) for row in record.rows)
            for column in ("auroc", "neighbours", "flagged_malignant")
        }
        flagged = sum(float(row["flagged_benign"]) for row in record.rows) / len(record.rows)
        cells = [
            formatted(worst["auroc"], "s3"),
            formatted(worst["neighbours"], "s3"),
            formatted(worst["flagged_malignant"], ".0%"),
            formatted(flagged, ".0%"),
        ]
        lines.append(f"| `{detector}`, {kind} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _few_pictures(results: Path) -> str:
    """How many of each kind were flagged, by seed."""
    records = [record for record in _read(results, "few") if record.seed is not None]
    lines = [
        f"| asked about, {records[0].about['asked']} each | flagged | AUROC | 5th nearest picture |",
        "|---|---|---|---|",
    ]
    for number, row in enumerate(records[0].rows):
        same = [record.rows[number] for record in records]
        cells = [
            ", ".join(str(one["flagged"]) for one in same),
            _several(same, "auroc"),
            _several(same, "neighbours"),
        ]
        lines.append(f"| {row['asked']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _several(rows: Sequence[Mapping[str, Any]], column: str) -> str:
    shown = ["" if row[column] is None else formatted(float(row[column]), "s3") for row in rows]
    return ", ".join(filter(None, shown))


def _absurd(results: Path) -> str:
    lines = ["| | one price is | ten-fold prices flagged | normal ones flagged |", "|---|---|---|---|"]
    for record in _read(results, "absurd"):
        detector = record.name.split(", ")[1]
        for row in record.rows:
            shares = [formatted(float(row[f"flagged_{kind}"]), ".1%") for kind in ("tenfold", "normal")]
            lines.append(f"| `{detector}` | {row['value']:,.0f} | {' | '.join(shares)} |")
    return "\n".join(lines)


TABLES: Mapping[str, Table] = {
    "few.rows": _few_rows,
    "few.pictures": _few_pictures,
    "absurd": _absurd,
}
