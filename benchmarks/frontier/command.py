"""The command ``python -m benchmarks frontier``: arguments in, calls out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = ["GROUP", "SETS", "frontier"]

GROUP = "frontier"
FITTED = 6200
SETS: dict[str, dict[str, Any]] = {
    "fashion-mnist-45": {
        "dataset": "fashion-mnist",
        "left_out": [4, 5],
        "epochs": None,
        "inliers": 1000,
        "outliers": 300,
    },
    "fashion-mnist-01": {
        "dataset": "fashion-mnist",
        "left_out": [0, 1],
        "epochs": None,
        "inliers": 500,
        "outliers": 150,
    },
    "svhn-45": {"dataset": "svhn", "left_out": [4, 5], "epochs": 12, "inliers": 500, "outliers": 150},
}
"""The selection sets: clusters of training images that are left out, epochs (None: as ever), and how many
images are asked about, of each kind of outlier too."""
QUICK = {"fitted": 300, "epochs": 12, "inliers": 60, "outliers": 20}


def frontier(
    only: Annotated[
        list[str] | None, typer.Option(help="A selection set; may be repeated. Default: all.")
    ] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda; the records of both are kept.")] = "cpu",
    seed: Annotated[int, typer.Option(help="Root of all randomness.")] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="A little of everything, kept apart.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Where records and figure go. Default: results/frontier, or results/frontier-quick."
        ),
    ] = None,
    table: Annotated[
        bool, typer.Option("--table", help="Measure nothing: the table and the figure from the records.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Measure even what has a record already.")] = False,
) -> None:
    """Compare what operating points of one fit find and cost, by training images alone."""
    from functools import partial

    from rich.console import Console

    from benchmarks.frontier.figure import draw_frontier
    from benchmarks.frontier.measure import measure_frontier
    from benchmarks.frontier.summary import summaries
    from benchmarks.frontier.table import terminal
    from benchmarks.pieces import Piece, measure_missing
    from benchmarks.places import RESULTS
    from benchmarks.records import Records
    from dissensus.destination import check_folder
    from dissensus.errors import SettingsError
    from dissensus.report import require_matplotlib

    require_matplotlib()
    unknown = [name for name in only or [] if name not in SETS]
    if unknown:
        raise SettingsError(f"there is no selection set {unknown[0]!r}; choose one of {', '.join(SETS)}")
    where = output or RESULTS / ("frontier-quick" if quick else "frontier")
    check_folder(where)
    records, group = Records(where, quick=quick), f"{GROUP}-{device}"
    if not table:
        pieces = []
        for name, own in SETS.items():
            settings = {**own, "fitted": FITTED, "device": device}
            settings |= QUICK if quick else {}
            if not only or name in only:
                pieces.append(Piece(group, name, settings, partial(measure_frontier, settings, seed), seed))
        measure_missing(records, pieces, Console(stderr=True, highlight=False), again=again)
    console = Console(highlight=False)
    found = records.read(group)
    if lacking := sorted(set(SETS) - {record.name for record in found}):
        console.print(f"Not measured, and no part of what follows: {', '.join(lacking)}.", markup=False)
    if points := summaries(found):
        console.print(terminal(points))
        path = draw_frontier(points, where / "figures" / f"{group}.png")
        console.print(str(path), markup=False, soft_wrap=True)
