"""Arguments that several commands take, and what their text means."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from dissensus.defaults import EFFORT, FAST, STANDARD, THOROUGH
from dissensus.errors import SettingsError

if TYPE_CHECKING:
    from dissensus.detector.own_names import OwnCode

__all__ = [
    "USUAL_EFFORT",
    "Data",
    "Device",
    "EffortName",
    "Gate",
    "IdColumn",
    "Inputs",
    "Json",
    "OwnEmbedder",
    "OwnModel",
    "OwnObservation",
    "OwnScore",
    "Quiet",
    "Resize",
    "Seed",
    "check_not_data",
    "own_code",
    "parse_size",
]

Gate: TypeAlias = Annotated[
    Path, typer.Argument(metavar="GATE", help="The folder that `dissensus fit` saved.")
]
Data: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A folder of images, an image, a pattern for images, a table (.csv, .tsv, .csv.gz, .parquet, "
        ".xlsx), an array (.npy, .npz, .idx, .idx.gz, .mat, .bin), JSON lines (.jsonl, .jsonl.gz, or - for "
        "stdin), or a dataset's name.",
    ),
]
Inputs: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A folder of images, an image, a pattern for images, a table (.csv, .tsv, .csv.gz, .parquet, "
        ".xlsx), an array (.npy, .npz, .idx, .idx.gz, .mat, .bin), or a dataset's name.",
    ),
]
IdColumn: TypeAlias = Annotated[
    str | None, typer.Option("--id", metavar="COLUMN", help="The table's column that names its rows.")
]


class EffortName(StrEnum):
    """How much is spent on an input."""

    fast = FAST
    standard = STANDARD
    thorough = THOROUGH


USUAL_EFFORT = EffortName(EFFORT)

Device: TypeAlias = Annotated[str, typer.Option(help="cpu, cuda, or auto: a GPU where there is one.")]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no remarks.")]
Resize: TypeAlias = Annotated[
    str | None, typer.Option(metavar="HxW", help="Bring image files to this height and width, as in 64x64.")
]
OwnScore: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--score",
        metavar="PACKAGE:CLASS",
        help="The gate's score, if it is code of your own: a gate names it and never imports it.",
    ),
]
OwnModel: TypeAlias = Annotated[
    str | None,
    typer.Option("--model", metavar="PACKAGE:CLASS", help="The gate's model, if it is code of your own."),
]
OwnObservation: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--observation",
        metavar="PACKAGE:CLASS",
        help="The observation model of the gate's VAE, if it is code of your own.",
    ),
]
OwnEmbedder: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--embed",
        metavar="PACKAGE:NAME|FILE.onnx",
        help="What turned the gate's inputs into vectors when it was fitted, if something did.",
    ),
]
Seed: TypeAlias = Annotated[int, typer.Option(help="Root of all randomness.")]


def parse_size(text: str | None) -> tuple[int, int] | None:
    """(height, width) of ``HxW``.

    >>> parse_size("64x48")
    (64, 48)
    """
    if text is None:
        return None
    match = re.fullmatch(r"([1-9]\d{0,4})[x×]([1-9]\d{0,4})", text.strip().lower())
    if match is None:
        raise SettingsError(f"--resize takes a height and a width, as in 64x64, not {text!r}")
    return int(match[1]), int(match[2])


def own_code(score: str | None, model: str | None, observation: str | None, embed: str | None) -> OwnCode:
    """What is of a person's own, imported by the names that were typed, as ``load`` takes it."""
    from dissensus.detector.own_names import import_own

    return import_own(
        scores=_one(score), models=_one(model), observations=_one(observation), embedders=_one(embed)
    )


def _one(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)


def check_not_data(output: Path, data: str) -> None:
    """Refuses to write what was found over the inputs it was found in."""
    if output.exists() and Path(data).exists() and output.samefile(data):
        raise SettingsError(f"{output} is the data: name another file to write to")
