"""``dissensus merge``: the parts of a sharded scoring become one file of rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus.cli.failures import FOUND_OUTLIERS
from dissensus.cli.formats import Format, chosen_format
from dissensus.cli.options import Quiet
from dissensus.cli.score import summarise
from dissensus.destination import STDOUT, Destination
from dissensus.errors import SettingsError

__all__ = ["merge"]


def merge(
    parts: Annotated[
        list[Path],
        typer.Argument(metavar="PARTS", help="The files that dissensus score --shard wrote, in any order."),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", help="Write all rows to this file, which is replaced; or to - for stdout."
        ),
    ] = STDOUT,
    format: Annotated[
        Format | None, typer.Option(help="Default: what the output's name ends with, or csv.")
    ] = None,
    fdr: Annotated[
        float | None,
        typer.Option(help="Flag by this false discovery rate over all inputs (Benjamini-Hochberg)."),
    ] = None,
    drift: Annotated[
        bool,
        typer.Option("--drift", help="Add a column: the log of the evidence that the inputs have drifted."),
    ] = False,
    fail_on_outliers: Annotated[
        bool, typer.Option("--fail-on-outliers", help="Leave with exit code 1 if anything is flagged.")
    ] = False,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print a summary as one JSON object; rows go to a file only."),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Join all parts of a scoring by shards: the result is what one process would have written, to the byte.

    Nothing is written if a part is missing, given twice, of another gate or of other inputs. The parts stay
    as they are.
    """
    with Destination(output) as place:
        format = chosen_format(place, format, json=json)
        for part in parts:
            if place.file is not None and part.exists() and place.file.exists() and part.samefile(place.file):
                raise SettingsError(f"{output} is one of the parts: name another file to write to")
        from dissensus.merging import merge_parts, open_parts

        whole = open_parts(parts)
        label = whole[0].label
        tally, wish = merge_parts(whole, place, format.value, fdr=fdr, drift=drift)
    about = {
        "parts": len(whole),
        "statistic": label.statistic,
        "false_alarm_rate": label.false_alarm_rate,
        "threshold": label.threshold,
        "calibration_inputs": label.calibration_inputs,
    }
    where = None if place.is_stdout else output
    summarise(tally, about, where, wish, json=json, quiet=quiet)
    if fail_on_outliers and tally.flagged:
        raise typer.Exit(FOUND_OUTLIERS)
