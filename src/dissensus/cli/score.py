"""``dissensus score``: a gate and inputs in, a row for each input out."""

from __future__ import annotations

import hashlib
import math
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from dissensus.cli.console import messages, print_json, warnings_as_messages
from dissensus.cli.failures import FOUND_OUTLIERS, Interrupted, speaking_of
from dissensus.cli.formats import Format, chosen_format
from dissensus.cli.options import (
    Data,
    Device,
    EffortName,
    Gate,
    IdColumn,
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
from dissensus.cli.progress import Downloads, StageProgress
from dissensus.cli.sharding import chosen_shard, finished, of_shard
from dissensus.destination import STDOUT, Destination

if TYPE_CHECKING:
    from dissensus.detector import Detector
    from dissensus.inputs import InputStream
    from dissensus.outputs import Tally, Wish

__all__ = ["score", "summarise"]

STDIN = "-"


def score(
    gate: Gate,
    data: Data,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="Write rows to this file, which is replaced when all are there; or, as they come, to this "
            "pipe or device, or to - for stdout, which is the default.",
        ),
    ] = None,
    format: Annotated[
        Format | None,
        typer.Option(
            help="Default: what the output's name ends with, or csv; on stdout jsonl if DATA is -. Parquet "
            "goes anywhere but to a terminal, and on a pipe is whole when it ends."
        ),
    ] = None,
    id_column: IdColumn = None,
    fdr: Annotated[
        float | None,
        typer.Option(
            help="Flag by this false discovery rate over all inputs (Benjamini-Hochberg), not by the gate's "
            "false-alarm rate."
        ),
    ] = None,
    effort: Annotated[
        EffortName | None,
        typer.Option(
            help="How much to spend on a picture, by a calibration of its own. Default: as the gate was "
            "fitted or saved."
        ),
    ] = None,
    drift: Annotated[
        bool,
        typer.Option("--drift", help="Add a column: the log of the evidence that the stream has drifted."),
    ] = False,
    fail_on_outliers: Annotated[
        bool, typer.Option("--fail-on-outliers", help="Leave with exit code 1 if anything is flagged.")
    ] = False,
    skip_unreadable: Annotated[
        bool,
        typer.Option(
            "--skip-unreadable", help="Go on after inputs that cannot be scored; a column says why."
        ),
    ] = False,
    absent_as_missing: Annotated[
        bool,
        typer.Option(
            "--absent-as-missing",
            help="Columns that a JSON line lacks count as missing. Default: such a line is refused.",
        ),
    ] = False,
    resize: Resize = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Score only shard I of N of DATA, counted from 0, to a Parquet file: merge joins them.",
        ),
    ] = None,
    own_score: OwnScore = None,
    model: OwnModel = None,
    observation: OwnObservation = None,
    embed: OwnEmbedder = None,
    device: Device = "auto",
    json: Annotated[
        bool,
        typer.Option("--json", help="Print a summary as one JSON object; rows go to a file or pipe only."),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Score every input of DATA: columns input, score, p_value, flagged.

    A higher score is further from the training data; p_value is how often an input like the training data
    scores as high; flagged says whether that is rarer than the gate's false-alarm rate.

    With DATA - each line of stdin is answered at once. A line is {"id": "a", "values": [1, 2]}, {"image":
    "<base64 of a picture file>"}, or an object of a table's columns. A line that cannot be scored ends the
    work, when those before it are answered; with --skip-unreadable it gets a reason instead.

    An interrupted --output to a file goes on where it stopped when the same command is given again. With
    --fdr all rows are written at the end, for all inputs decide together.

    With --shard 3/64 a process scores its share of DATA alone, on any machine and in any order, and does
    nothing where its part is there already; dissensus merge makes of all parts what one process would write.
    """
    size = parse_size(resize)
    chosen = None if shard is None else chosen_shard(shard, output, format, fdr=fdr, drift=drift)
    if output is not None:
        check_not_data(Path(output), data)
    # With --json alone the rows are wanted nowhere, and are still made: they are what is counted.
    with Destination(output if output is not None else os.devnull if json else STDOUT) as place:
        format = chosen_format(place, format, json=json, as_lines=data == STDIN)
        from dissensus.detector import Detector
        from dissensus.outputs import Wish
        from dissensus.scoring import score_to_output

        with warnings_as_messages():
            detector = Detector.load(gate, device=device, **own_code(own_score, model, observation, embed))
        if effort is not None:
            detector.effort = effort.value
        noted = detector.preprocessor_.feature_names is not None or detector.confirmed_ is not None
        wish = Wish(fdr, drift, skip_unreadable, notes=noted)
        bar = StageProgress({"scoring": 1.0}, quiet=quiet)
        with speaking_of(data), warnings_as_messages(data), bar as progress:
            stream = _open(detector, data, size, id_column, absent_as_missing, quiet=quiet)
            work: dict[str, Any] = {"gate": _gate_digest(gate), "data": _state(data), "size": size}
            work |= {"id": id_column, "absent": absent_as_missing, "effort": detector.effort}
            tally = None
            if chosen is not None:
                stream, label = of_shard(stream, chosen, wish, detector, data, work)
                wish, work["part"] = replace(wish, label=label), asdict(label)
                tally = finished(place.file, label)
            try:
                tally = tally or score_to_output(
                    detector, stream, place, format.value, wish, work=work, on_progress=progress
                )
            except KeyboardInterrupt:
                if place.is_stream:
                    raise
                how = (
                    f"{output} holds the rows so far"
                    if stream.live
                    else "give the same command again to go on"
                )
                raise Interrupted(f"interrupted: {how}") from None
    where = None if output is None or place.is_stdout else output
    about = {
        "gate": str(gate),
        "statistic": detector.statistic_,
        "false_alarm_rate": detector.false_alarm_rate,
        "threshold": detector.threshold_ if math.isfinite(detector.threshold_) else None,
        "calibration_inputs": len(detector.calibration_scores_),
    }
    summarise(tally, about, where, wish, json=json, quiet=quiet)
    if fail_on_outliers and tally.flagged:
        raise typer.Exit(FOUND_OUTLIERS)


def _open(
    gate: Detector,
    data: str,
    size: tuple[int, int] | None,
    id_column: str | None,
    absent_as_missing: bool,
    *,
    quiet: bool,
) -> InputStream:
    from dissensus.inputs import open_stream

    source = _stdin() if data == STDIN else data
    with Downloads(quiet=quiet) as downloads:
        return open_stream(
            source,
            gate.preprocessor_,
            id_column=id_column,
            resize=size,
            progress=downloads,
            absent_as_missing=absent_as_missing,
        )


def _stdin() -> IO[bytes]:
    """Standard input with a buffer of its own: Python aborts if its own is still being read at the end."""
    try:
        return open(sys.stdin.fileno(), "rb", closefd=False)
    except (OSError, ValueError):  # no real file, as in tests
        return sys.stdin.buffer


def _gate_digest(gate: Path) -> str:
    """Of the configuration, which holds the digests of the other files."""
    from dissensus.atomic import present

    return hashlib.sha256((present(gate) / "config.json").read_bytes()).hexdigest()


def _state(data: str) -> str:
    """Tells inputs from others, and from what they were before somebody changed them."""
    from dissensus.inputs import ImageFolder, is_pattern

    if data == STDIN:
        return os.urandom(16).hex()  # the same bytes never come again
    if Path(data).is_dir() or is_pattern(data):
        paths = ImageFolder(data).paths
    else:
        paths = (Path(data),) if Path(data).exists() else ()
    digest = hashlib.sha256(str(Path(data).absolute()).encode("utf-8", "surrogateescape"))
    for path in paths:
        status = path.stat()
        digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def summarise(
    tally: Tally, about: Mapping[str, Any], output: str | None, wish: Wish, *, json: bool, quiet: bool
) -> None:
    """Say what the rows add up to; ``about`` says of which gate they are."""
    drift = tally.monitor
    if json:
        summary: dict[str, Any] = {
            "inputs": tally.inputs,
            "flagged": tally.flagged,
            "unreadable": tally.unreadable,
            **about,
            "fdr": wish.fdr,
            "drift": None if drift is None else {"log_evidence": drift.log_martingale, "alarm": drift.alarm},
            "output": output,
        }
        print_json(summary)
    elif not quiet:
        where = f", rows in {output}" if output is not None else ""
        unreadable = f", {tally.unreadable} unreadable" if tally.unreadable else ""
        rate = (
            f"false-alarm rate {about['false_alarm_rate']:g}"
            if wish.fdr is None
            else f"false discovery rate {wish.fdr:g}"
        )
        drifted = "" if drift is None else ", the stream has DRIFTED" if drift.alarm else ", no drift"
        messages().print(
            f"{tally.flagged} of {tally.inputs} inputs flagged{unreadable} ({rate}){drifted}{where}",
            markup=False,
            soft_wrap=True,
        )
