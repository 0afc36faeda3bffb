"""``dissensus report``: one page about a gate and a set of inputs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from dissensus.cli.console import messages, print_bullets, print_json, results, warnings_as_messages
from dissensus.cli.failures import FOUND_OUTLIERS, speaking_of
from dissensus.cli.options import (
    Device,
    Gate,
    IdColumn,
    Inputs,
    Json,
    OwnEmbedder,
    OwnModel,
    OwnObservation,
    OwnScore,
    Quiet,
    Resize,
    check_not_data,
    own_code,
    parse_size,
)
from dissensus.cli.progress import StageProgress
from dissensus.destination import Destination
from dissensus.errors import SettingsError

__all__ = ["report"]

PAGE_SUFFIXES = ("", ".html", ".htm")


def report(
    gate: Gate,
    data: Inputs,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="The HTML file; its record is put beside it as .json. A pipe, a device or - for stdout gets "
            "the page alone: there is nothing beside it, so no record is written (--json prints it).",
        ),
    ] = "report.html",
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
    score: OwnScore = None,
    model: OwnModel = None,
    observation: OwnObservation = None,
    embed: OwnEmbedder = None,
    device: Device = "auto",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Look at DATA through the GATE and write one self-contained HTML page about it, and the same as JSON.

    Files are replaced when they are whole; of a link, the file that it names.
    """
    size = parse_size(resize)
    check_not_data(Path(output), data)
    with Destination(output) as page, _beside(page, data) as record_file:
        if page.file is not None and Path(output).suffix.lower() not in PAGE_SUFFIXES:
            raise SettingsError(
                f"{output} would be an HTML page: name it {Path(output).with_suffix('.html')}"
            )
        if json and page.is_stdout:
            raise SettingsError("--json prints to stdout, where the page would go too: name a file with -o")
        from dissensus.detector import Detector
        from dissensus.inputs import open_stream
        from dissensus.inspection import assess
        from dissensus.report import gate_record, require_jinja, require_matplotlib, write_gate_report

        require_jinja()
        require_matplotlib()
        on_error: Literal["raise", "skip"] = "skip" if skip_unreadable else "raise"
        with warnings_as_messages(data), speaking_of(data):
            detector = Detector.load(gate, device=device, **own_code(score, model, observation, embed))
            with StageProgress({"assessing": 1.0}, quiet=quiet) as progress:
                found = assess(
                    detector,
                    open_stream(data, detector.preprocessor_, id_column=id_column, resize=size),
                    source=data,
                    gate_name=str(gate),
                    shown=shown,
                    limit=limit,
                    on_error=on_error,
                    on_progress=progress,
                )
        write_gate_report(page, found, record=record_file)
    record = gate_record(found)
    if json:
        print_json(record)
    elif not quiet:
        # Where the page is on stdout, nothing else may be.
        print_bullets(messages() if page.is_stdout else results(), record["summary"])
        if not page.is_stdout:
            messages().print(f"report in {output}", markup=False, soft_wrap=True)
    if fail_on_outliers and not found.passed():
        raise typer.Exit(FOUND_OUTLIERS)


@contextmanager
def _beside(page: Destination, data: str) -> Iterator[Destination | None]:
    """Where the page's record goes; nowhere if the page goes to a stream, which has nothing beside it."""
    if page.is_stream:
        yield None
        return
    name = Path(page.name).with_suffix(".json")
    check_not_data(name, data)
    with Destination(name) as record:
        if record.file == page.file:
            raise SettingsError(
                f"{page.name} is where the record goes: give the page another name, as in {name.stem}.html"
            )
        yield record
