"""Two consoles: results go to stdout, everything said about the work goes to stderr."""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["messages", "print_bullets", "print_json", "renamed", "results", "warnings_as_messages"]


def results() -> Console:
    """Where results are printed."""
    from rich.console import Console

    return Console(highlight=False)


def messages() -> Console:
    """Where progress, warnings and errors are printed."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def print_json(result: Mapping[str, Any]) -> None:
    """One JSON object on stdout."""
    typer.echo(json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False))


@contextmanager
def warnings_as_messages(data: str | Path | None = None) -> Iterator[None]:
    """Inside, what the package warns of or logs is one yellow line each; others' warnings are kept quiet.

    What is said of ``X`` is said of ``data``, which is the name that a person gave.
    """
    from dissensus.errors import CalibrationWarning, InputWarning, SamplerWarning

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        said = str(message) if data is None else renamed(str(message), data)
        messages().print(said, style="yellow", markup=False, soft_wrap=True)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for category in (CalibrationWarning, InputWarning, SamplerWarning):
            warnings.simplefilter("always", category)
        warnings.showwarning = show
        logger, handler = logging.getLogger("dissensus"), _Lines(show)
        logger.addHandler(handler)
        try:
            yield
        finally:
            logger.removeHandler(handler)


class _Lines(logging.Handler):
    """Hands each record's message to a function."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__()
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        """One message."""
        self._show(record.getMessage())


def renamed(sentence: str, data: str | Path) -> str:
    """A sentence about ``X``, or about the stream "-", as one about what a person named.

    >>> renamed("X holds no inputs: give at least one", "photos")
    'photos holds no inputs: give at least one'
    """
    name = "stdin" if str(data) == "-" else str(data)
    return re.sub(r"^(X\b|-(?= ))", lambda _: name, sentence)


def print_bullets(console: Console, sentences: Iterable[str]) -> None:
    """Print sentences as a list: on a terminal as wide as it is, elsewhere each on a line of its own."""
    if not console.is_terminal:
        for sentence in sentences:
            console.print(f"• {sentence}", markup=False, soft_wrap=True)
        return
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1))
    for sentence in sentences:
        grid.add_row("•", Text(sentence))
    console.print(grid)
