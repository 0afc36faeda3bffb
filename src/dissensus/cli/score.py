"""``dissensus score``: a gate and inputs in, a row for each input out."""

from __future__ import annotations

import csv
import json as json_text
import math
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from dissensus.cli.console import messages, print_json, warnings_as_messages
from dissensus.cli.failures import FOUND_OUTLIERS, speaking_of
from dissensus.cli.options import Device, Quiet, Resize, parse_size
from dissensus.cli.progress import Downloads, StageProgress
from dissensus.errors import SettingsError

if TYPE_CHECKING:
    from dissensus.data import ImageFolder
    from dissensus.detector import BayesianVAE

__all__ = ["Format", "Row", "score"]

BATCH = 256  # pictures of a folder that are in memory at once


class Format(StrEnum):
    """How rows are written."""

    csv = "csv"
    jsonl = "jsonl"


@dataclass(frozen=True)
class Row:
    """What is said about one input; of one that could not be read, only why."""

    input: str | int
    """Path below the folder, or row number from 0."""
    score: float | None = None
    """Higher = more out-of-distribution."""
    p_value: float | None = None
    flagged: bool | None = None
    error: str | None = None


def score(
    gate: Annotated[Path, typer.Argument(help="The folder that `dissensus fit` saved.")],
    data: Annotated[str, typer.Argument(help="A folder of images, an image, a file, or a dataset's name.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write rows to this file. Default: stdout.")
    ] = None,
    format: Annotated[
        Format | None, typer.Option(help="Default: jsonl if the output's name ends so, else csv.")
    ] = None,
    fail_on_outliers: Annotated[
        bool, typer.Option("--fail-on-outliers", help="Leave with exit code 1 if anything is flagged.")
    ] = False,
    skip_unreadable: Annotated[
        bool,
        typer.Option("--skip-unreadable", help="Go on after images that cannot be read; a column says why."),
    ] = False,
    resize: Resize = None,
    device: Device = "auto",
    json: Annotated[
        bool, typer.Option("--json", help="Print a summary as one JSON object; rows go to --output only.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Score every input of DATA: columns input, score, p_value, flagged.

    A higher score is further from the training data; p_value is how often an input like the training data
    scores as high; flagged says whether that is rarer than the gate's false-alarm rate.
    """
    size = parse_size(resize)
    if output is not None:
        _check_output(output)
    from dissensus.detector import BayesianVAE

    with warnings_as_messages():
        detector = BayesianVAE.load(gate, device=device)
    if format is None:
        format = Format.jsonl if output is not None and output.suffix == ".jsonl" else Format.csv
    counts = {"inputs": 0, "flagged": 0, "unreadable": 0}
    with _destination(output, printed=not json) as stream:
        rows = _counted(_rows(detector, data, size, skip=skip_unreadable, quiet=quiet), counts)
        _write(rows, stream, format, with_errors=skip_unreadable)
    if json:
        print_json(counts | _gate_summary(detector, gate, output))
    elif not quiet:
        where = f", rows in {output}" if output is not None else ""
        unreadable = f", {counts['unreadable']} unreadable" if counts["unreadable"] else ""
        messages().print(
            f"{counts['flagged']} of {counts['inputs']} inputs flagged{unreadable} "
            f"(false-alarm rate {detector.false_alarm_rate:g}){where}",
            markup=False,
            soft_wrap=True,
        )
    if fail_on_outliers and counts["flagged"]:
        raise typer.Exit(FOUND_OUTLIERS)


def _rows(
    gate: BayesianVAE, data: str, size: tuple[int, int] | None, *, skip: bool, quiet: bool
) -> Iterator[Row]:
    from dissensus.data import ImageFolder, image_suffixes, open_inputs

    pictures = Path(data).is_dir() or Path(data).suffix.lower() in image_suffixes()
    with speaking_of(data):
        with Downloads(quiet=quiet) as downloads:
            inputs = open_inputs(
                data,
                name=data,
                size=size or (gate.resize if pictures else None),
                # Grey pictures among photographs are made RGB, which changes nothing; RGB is never made grey.
                channels=3 if pictures and gate.input_shape_[-1:] == (3,) else None,
                on_error="skip" if skip else "raise",
                progress=downloads,
            )
        with StageProgress({"scoring": 1.0}, quiet=quiet) as progress:
            if isinstance(inputs, ImageFolder):
                yield from _folder_rows(gate, inputs, progress)
            else:
                names: Iterable[str | int] = [Path(data).name] if pictures else range(len(inputs))
                decisions = gate.decide(inputs, on_progress=progress)
                yield from (
                    Row(name, *decision)
                    for name, *decision in zip(names, *(column.tolist() for column in decisions), strict=True)
                )


def _folder_rows(gate: BayesianVAE, folder: ImageFolder, progress: StageProgress) -> Iterator[Row]:
    """Rows in the folder's order, a batch at a time; those that could not be read stand where they belong."""
    done = 0
    for paths, pixels in folder.batches(BATCH):
        decided = dict(zip(paths, zip(*(c.tolist() for c in gate.decide(pixels)), strict=True), strict=True))
        end = folder.paths.index(paths[-1], done) + 1
        yield from _in_order(folder, folder.paths[done:end], decided)
        done = end
        progress("scoring", done, len(folder))
    yield from _in_order(folder, folder.paths[done:], {})


def _in_order(
    folder: ImageFolder, paths: Iterable[Path], decided: dict[Path, tuple[float, float, bool]]
) -> Iterator[Row]:
    reasons = dict(folder.skipped)
    for path in paths:
        # A file name may hold bytes that are no text; they are written as escapes.
        name = path.relative_to(folder.root).as_posix().encode("utf-8", "backslashreplace").decode()
        yield Row(name, *decided[path]) if path in decided else Row(name, error=reasons[path])


def _counted(rows: Iterable[Row], counts: dict[str, int]) -> Iterator[Row]:
    for row in rows:
        counts["inputs"] += 1
        counts["flagged"] += bool(row.flagged)
        counts["unreadable"] += row.error is not None
        yield row


def _check_output(file: Path) -> None:
    """Refuses a place that could not be written to, before any work is done."""
    if file.is_dir():
        raise SettingsError(f"{file} is a folder: name a file to write the rows to")
    try:
        with tempfile.TemporaryFile(dir=file.parent):
            pass
    except OSError as error:
        raise SettingsError(f"{file} cannot be written ({error.strerror}): choose another place") from error


@contextmanager
def _destination(output: Path | None, *, printed: bool) -> Iterator[TextIO | None]:
    """The stream rows are written to, or None where nobody wants them."""
    from dissensus.atomic import atomic_path

    if output is None:
        yield sys.stdout if printed else None
        return
    with atomic_path(output) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        yield stream


def _write(rows: Iterable[Row], stream: TextIO | None, format: Format, *, with_errors: bool) -> None:
    columns = ["input", "score", "p_value", "flagged", *(["error"] if with_errors else [])]
    table = csv.writer(stream, lineterminator="\n") if stream is not None and format is Format.csv else None
    for number, row in enumerate(rows):
        if table is not None and number == 0:  # only now is it sure that the inputs can be read
            table.writerow(columns)
        values = {name: value for name, value in asdict(row).items() if name in columns}
        if table is not None:
            table.writerow([str(v).lower() if isinstance(v, bool) else v for v in values.values()])
        elif stream is not None:
            # JSON has no infinity; the flag still says that the input is one.
            finite = {n: None if isinstance(v, float) and math.isinf(v) else v for n, v in values.items()}
            stream.write(json_text.dumps(finite, ensure_ascii=False) + "\n")


def _gate_summary(detector: BayesianVAE, gate: Path, output: Path | None) -> dict[str, Any]:
    return {
        "gate": str(gate),
        "statistic": detector.statistic,
        "false_alarm_rate": detector.false_alarm_rate,
        "threshold": detector.threshold_ if math.isfinite(detector.threshold_) else None,
        "calibration_inputs": len(detector.calibration_scores_),
        "output": None if output is None else str(output),
    }
