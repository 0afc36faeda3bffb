"""How a command writes rows to the output that a person named."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from dissensus.destination import Destination
from dissensus.errors import SettingsError

__all__ = ["Format", "chosen_format"]


class Format(StrEnum):
    """How rows are written."""

    csv = "csv"
    jsonl = "jsonl"
    parquet = "parquet"


def chosen_format(place: Destination, format: Format | None, *, json: bool, as_lines: bool = False) -> Format:
    """Return the format that was asked for, or that the output's name ends with; refuse what cannot be.

    ``json`` says that a summary is to be printed, ``as_lines`` that rows on stdout are JSON lines unless
    another format was asked for.
    """
    from dissensus.outputs import format_of

    if json and place.is_stdout:
        raise SettingsError("--json prints to stdout, where the rows would go too: name a file with -o")
    if format is None and as_lines and place.is_stdout:
        return Format.jsonl
    # A pipe or a device may be called anything.
    named = Path(place.name) if place.file is not None else Path()
    chosen = format or Format(format_of(named))
    if chosen is Format.parquet and place.is_terminal:
        raise SettingsError("Parquet is no text for a terminal: name a file with --output")
    return chosen
