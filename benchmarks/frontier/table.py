"""The table of the frontier, for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from benchmarks.decimals import short
from benchmarks.frontier.points import CALLED
from benchmarks.frontier.summary import Summary, knee, pareto

__all__ = ["markdown", "terminal"]

HEADS = (
    "point",
    "mean AUROC",
    "worst kind",
    "largest loss",
    "decodings",
    "128 images, ms",
    "one image, ms",
    "",
)


def _rows(points: Sequence[Summary]) -> list[tuple[str, ...]]:
    front, chosen = pareto(points), knee(points)
    efforts = {point: effort for effort, point in CALLED.items()}
    return [
        (
            f"**{efforts[each.name]}**: {each.name}" if each.name in efforts else each.name,
            short(each.mean),
            short(each.worst),
            f"{each.loss:.3f}",
            str(each.decodings),
            f"{each.batch:.0f}",
            f"{each.one:.1f}",
            "knee" if each == chosen else "front" if each in front else "",
        )
        for each in points
    ]


def terminal(points: Sequence[Summary]) -> Table:
    """For a terminal."""
    found = Table(*HEADS)
    for row in _rows(points):
        found.add_row(*(cell.replace("*", "") for cell in row))
    return found


def markdown(points: Sequence[Summary]) -> str:
    """For a page."""
    lines = [HEADS, ("---",) * len(HEADS), *_rows(points)]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)
