"""The command ``python -m benchmarks guarantees``: arguments in, calls out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmarks.places import RESULTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.pieces import Found

__all__ = ["GROUP", "guarantees"]

GROUP = "guarantees"


def guarantees(
    gate: Annotated[
        Path | None, typer.Option(help="A gate that `dissensus demo` saved. Default: fit one, in minutes.")
    ] = None,
    splits: Annotated[int, typer.Option(min=2, help="Random splits into calibration and test.")] = 200,
    seed: Annotated[int, typer.Option(help="Root of all randomness.")] = 0,
    output: Annotated[Path, typer.Option(help="Where record and figure go.")] = RESULTS / "guarantees",
    table: Annotated[
        bool, typer.Option("--table", help="Measure nothing: the sentences and the figure from the record.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Measure even what has a record already.")] = False,
) -> None:
    """Measure on real scores whether the false-alarm, discovery, stream and batch guarantees are kept."""
    from rich.console import Console

    from benchmarks.guarantees.figure import draw_guarantees
    from benchmarks.guarantees.sentences import guarantee_sentences
    from benchmarks.pieces import Piece, measure_missing
    from benchmarks.records import Records
    from dissensus.destination import check_folder, write_output
    from dissensus.report import require_matplotlib

    require_matplotlib()
    check_folder(output)
    records = Records(output)
    if not table:
        settings = {"splits": splits, "gate": "as fitted here"}
        if gate is not None:
            settings["gate"] = "one that was given"

        def measure(say: Callable[[str], None]) -> Found:
            return _measured(gate, splits, seed, say)

        # A gate that was given may be another one next time.
        again = again or gate is not None
        piece = Piece(GROUP, "splits", settings, measure, seed)
        measure_missing(records, [piece], Console(stderr=True, highlight=False), again=again)
    console = Console(highlight=False)
    for record in records.read(GROUP):
        if record.seed == seed:
            write_output(output / "guarantees.png", draw_guarantees(record))
            for sentence in guarantee_sentences(record):
                console.print(f"• {sentence}", markup=False, soft_wrap=True)
            console.print(str(output / "guarantees.png"), markup=False, soft_wrap=True)


def _measured(gate: Path | None, splits: int, seed: int, say: Callable[[str], None]) -> Found:
    from benchmarks.guarantees.measure import measure_guarantees
    from benchmarks.guarantees.scores import fitted_detector, sample_scores
    from benchmarks.pieces import Found
    from benchmarks.rows import in_rows

    def on_progress(stage: str, done: int, total: int) -> None:
        say(f"{stage} {done / max(1, total):.0%}")

    detector = fitted_detector(gate, seed=seed, on_progress=on_progress)
    scores = sample_scores(detector, on_progress=on_progress)
    say("counting")
    size = len(detector.calibration_scores_)
    parts = measure_guarantees(
        scores.inliers, scores.outliers, calibration_size=size, splits=splits, seed=seed
    )
    rows, about = in_rows(parts)
    sizes = {"inliers": len(scores.inliers), "outliers": len(scores.outliers), "calibration_size": size}
    return Found(rows, {"statistic": detector.statistic_, **sizes, **about})
