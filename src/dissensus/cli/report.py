"""``dissensus report``: one page about a gate and a set of inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from dissensus.cli.console import bullets, messages, print_json, results, warnings_as_messages
from dissensus.cli.failures import FOUND_OUTLIERS, speaking_of
from dissensus.cli.options import (
    Device,
    Gate,
    IdColumn,
    Inputs,
    Json,
    Quiet,
    Resize,
    check_not_data,
    parse_size,
)
from dissensus.cli.progress import StageProgress
from dissensus.errors import SettingsError

__all__ = ["report"]


def report(
    gate: Gate,
    data: Inputs,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The HTML file; its record is put beside it as .json.")
    ] = Path("report.html"),
    shown: Annotated[
        int, typer.Option(min=0, help="Inputs that are explained, of the most unusual and most typical.")
    ] = 6,
    limit: Annotated[int | None, typer.Option(min=1, help="Look at the first so many inputs only.")] = None,
    fail_on_outliers: Annotated[
        bool,
        typer.Option(
            "--fail-on-outliers", help="Leave with exit code 1 if more is flagged than chance explains."
        ),
    ] = False,
    skip_unreadable: Annotated[
        bool, typer.Option("--skip-unreadable", help="Go on after images that cannot be read.")
    ] = False,
    id_column: IdColumn = None,
    resize: Resize = None,
    device: Device = "auto",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Look at DATA through the GATE and write one self-contained HTML page about it, and the same as JSON."""
    size = parse_size(resize)
    if output.is_dir() or not output.absolute().parent.is_dir():
        raise SettingsError(f"{output} cannot be written: name a file in a folder that exists")
    record_file = output.with_suffix(".json")
    if output == record_file:
        raise SettingsError(f"{output} is where the record goes: name the page, as in {output.stem}.html")
    for file in (output, record_file):
        check_not_data(file, data)
    from dissensus.detector import BayesianVAE
    from dissensus.detector.streaming import open_stream
    from dissensus.inspection import assess
    from dissensus.report import gate_record, require_matplotlib, write_gate_report

    require_matplotlib()
    on_error: Literal["raise", "skip"] = "skip" if skip_unreadable else "raise"
    with warnings_as_messages(), speaking_of(data):
        detector = BayesianVAE.load(gate, device=device)
        with StageProgress({"assessing": 1.0}, quiet=quiet) as progress:
            found = assess(
                detector,
                open_stream(detector, data, id_column=id_column, resize=size),
                source=data,
                shown=shown,
                limit=limit,
                on_error=on_error,
                on_progress=progress,
            )
    write_gate_report(output, found, record=record_file)
    record = gate_record(found)
    if json:
        print_json(record)
    elif not quiet:
        results().print(bullets(record["summary"]))
        messages().print(f"report in {output}", markup=False, soft_wrap=True)
    if fail_on_outliers and not found.passed():
        raise typer.Exit(FOUND_OUTLIERS)
