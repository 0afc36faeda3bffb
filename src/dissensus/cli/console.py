"""Two consoles: results go to stdout, everything said about the work goes to stderr."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["bullets", "messages", "print_json", "results", "warnings_as_messages"]


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
def warnings_as_messages() -> Iterator[None]:
    """Inside, what the package warns of or logs is one yellow line each; others' warnings are kept quiet."""
    from dissensus.errors import CalibrationWarning, InputWarning, SamplerWarning

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        messages().print(str(message), style="yellow", markup=False, soft_wrap=True)

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


def bullets(sentences: Iterable[str]) -> Table:
    """Sentences whose further lines stand under the first."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1))
    for sentence in sentences:
        grid.add_row("•", Text(sentence))
    return grid
