"""The pages that are filled in, and filling them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from benchmarks.filling.formats import formatted
from benchmarks.filling.markers import fill
from benchmarks.filling.registry import find_number, find_table
from dissensus.destination import write_output
from dissensus.errors import DissensusError

__all__ = ["fill_page", "pages"]


def pages(root: Path) -> list[Path]:
    """The README and every page of the documents."""
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def fill_page(path: Path, results: Path, *, write: bool) -> list[str]:
    """Fill a page in from the records, and return what differed, in words that begin with its name."""
    text = path.read_text("utf-8")
    try:
        filled, wrong = fill(text, _number(results), partial(find_table, results=results))
    except DissensusError as error:
        raise type(error)(f"{path}: {error}") from error
    if write and filled != text:
        write_output(path, filled.encode())
    return [f"{path.name}, {what}" for what in wrong]


def _number(results: Path) -> Callable[[str, str], str]:
    """Each number is found once, however often it is shown."""
    values = cache(partial(find_number, results=results))
    return lambda name, how: formatted(values(name), how)
