"""The command ``python -m benchmarks guarantees``: arguments in, calls out."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.places import RESULTS

__all__ = ["guarantees"]


def guarantees(
    gate: Annotated[
        Path | None, typer.Option(help="A gate that `dissensus demo` saved. Default: fit one, in minutes.")
    ] = None,
    splits: Annotated[int, typer.Option(min=2, help="Random splits into calibration and test.")] = 200,
    seed: Annotated[int, typer.Option(help="Root of all randomness.")] = 0,
    output: Annotated[Path, typer.Option(help="Where record and figure go.")] = RESULTS / "guarantees",
    json: Annotated[bool, typer.Option("--json", help="Print the record instead of sentences.")] = False,
) -> None:
    """Measure on real scores whether the false-alarm, discovery, stream and batch guarantees are kept."""
    from rich.console import Console

    from benchmarks.guarantees.figure import draw_guarantees
    from benchmarks.guarantees.measure import measure_guarantees
    from benchmarks.guarantees.scores import fitted_detector, sample_scores
    from benchmarks.guarantees.sentences import guarantee_sentences
    from dissensus.destination import check_folder, write_output
    from dissensus.evaluation import environment, write_record
    from dissensus.report import require_matplotlib

    require_matplotlib()
    check_folder(output)
    with Console(stderr=True).status("starting") as status:

        def on_progress(stage: str, done: int, total: int) -> None:
            status.update(f"{stage} {done / max(1, total):.0%}")

        detector = fitted_detector(gate, seed=seed, on_progress=on_progress)
        scores = sample_scores(detector, on_progress=on_progress)
        status.update("measuring")
        found = measure_guarantees(
            scores.inliers,
            scores.outliers,
            calibration_size=len(detector.calibration_scores_),
            splits=splits,
            seed=seed,
        )
    record = {"statistic": detector.statistic_, **found, "environment": environment()}
    write_record(output / "guarantees.json", record)
    write_output(output / "guarantees.png", draw_guarantees(record))
    console = Console(highlight=False)
    if json:
        typer.echo(json_text.dumps(record, allow_nan=False))
        return
    for sentence in guarantee_sentences(record):
        console.print(f"• {sentence}", markup=False, soft_wrap=True)
    console.print(str(output / "guarantees.png"), markup=False, soft_wrap=True)
