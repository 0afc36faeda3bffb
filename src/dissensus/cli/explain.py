"""``dissensus explain``: why one input scores as it does."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from dissensus.cli.console import messages, print_bullets, print_json, results, warnings_as_messages
from dissensus.cli.failures import speaking_of
from dissensus.cli.options import (
    Data,
    Device,
    Gate,
    IdColumn,
    Json,
    OwnEmbedder,
    OwnModel,
    OwnObservation,
    OwnScore,
    Quiet,
    Resize,
    own_code,
    parse_size,
)
from dissensus.destination import check_folder, write_output
from dissensus.errors import SettingsError

if TYPE_CHECKING:
    from dissensus.explain import Explanation

__all__ = ["explain"]

SHOWN = 5  # statistics that carry a score, named on the terminal


def explain(
    gate: Gate,
    data: Data,
    row: Annotated[int, typer.Option(min=0, help="Which of DATA's inputs, counted from 0.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A folder for the explanation as JSON and, of images, pictures."),
    ] = None,
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
    """Explain one input: where the draws disagree about it, and how it compares with normal ones."""
    size = parse_size(resize)
    if output is not None:
        check_folder(output)
    from dissensus.detector import Detector
    from dissensus.detector.streaming import one_input
    from dissensus.inputs import open_stream

    if data == "-":
        raise SettingsError("explain does not read from stdin: name a file")
    with warnings_as_messages(data), speaking_of(data):
        detector = Detector.load(gate, device=device, **own_code(score, model, observation, embed))
        stream = open_stream(data, detector.preprocessor_, id_column=id_column, resize=size)
        name, asked = one_input(detector, stream, row)
        found = cast("list[Explanation]", detector.explain(asked))[0]
    head = {"input": name, "row": row}
    if output is not None:
        _write(output, found, head)
    if json:
        print_json(head | found.to_dict())
    elif not quiet:
        _print(name, found)
        if output is not None:
            messages().print(f"explanation in {output}", markup=False, soft_wrap=True)


def _write(folder: Path, found: Explanation, head: dict[str, Any]) -> None:
    from dissensus.report import explanation_files

    Path(os.path.realpath(folder)).mkdir(parents=True, exist_ok=True)
    for name, content in explanation_files(found, head).items():
        write_output(folder / name, content)


def _print(name: str | int, found: Explanation) -> None:
    from rich.markup import escape

    out = results()
    title = f"row {name}" if isinstance(name, int) else name
    out.print(f"[bold]{escape(title)}[/bold]")
    out.print(str(found), markup=False, soft_wrap=True)
    facts = found.to_dict()
    if facts["surprises"]:
        out.print("\n[bold]What carries the score[/bold] (−log p of each statistic by itself)")
        shown = list(facts["surprises"].items())[:SHOWN]
        print_bullets(out, (f"{name}: {nats:.3g} nats" for name, nats in shown))
    out.print("\n[bold]Compared with the calibration inputs[/bold]")
    print_bullets(out, (_standing(name, **values) for name, values in facts["statistics"].items()))


def _standing(name: str, value: float | None, percentile: float | None) -> str:
    from dissensus.unusual import MEANINGS

    meaning = MEANINGS.get(name, "")
    shown = "infinite" if value is None else f"{value:.4g}"
    return (
        f"{name} {shown}"
        + ("" if percentile is None else f", above {percentile:.0f}% of them")
        + (f": {meaning}" if meaning else "")
    )
