"""From exceptions to one sentence and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from dissensus.cli.console import messages, renamed
from dissensus.errors import DataError, DissensusError, DivergenceError, OutputError

__all__ = [
    "FOUND_OUTLIERS",
    "INTERRUPTED",
    "WORK_FAILED",
    "WRONG_CALL",
    "Commands",
    "Interrupted",
    "speaking_of",
]

FOUND_OUTLIERS = 1
WRONG_CALL = 2
WORK_FAILED = 3
INTERRUPTED = 130  # what shells expect of a process that Ctrl-C ended
READER_LEFT = 141  # and of one whose pipe was closed


class Interrupted(Exception):  # noqa: N818 it is no error
    """The person pressed Ctrl-C; the message says how to go on."""


class Commands(TyperGroup):
    """The command group whose commands never end in a traceback, unless DISSENSUS_DEBUG is set."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the command that was called."""
        try:
            return super().invoke(ctx)
        except SystemExit as error:
            # Rich answers a closed pipe with exit code 1, which here means that outliers were found.
            if isinstance(error.__context__, BrokenPipeError):
                raise typer.Exit(_report(error.__context__)) from error
            raise
        except (Exception, KeyboardInterrupt) as error:
            # What carries an exit code is typer's own way of ending a command.
            if (
                os.environ.get("DISSENSUS_DEBUG")
                or hasattr(error, "exit_code")
                or isinstance(error, typer.Abort)
            ):
                raise
            raise typer.Exit(_report(error)) from error


def _report(error: BaseException) -> int:
    """Says what happened on stderr and gives the exit code that means it."""
    _give_stdout_up_if_broken()
    if isinstance(error, BrokenPipeError):
        return READER_LEFT
    if isinstance(error, KeyboardInterrupt | Interrupted):
        _say(str(error) or "interrupted", "yellow")
        return INTERRUPTED
    if isinstance(error, DissensusError):
        _say(str(error), "red")
        return WORK_FAILED if isinstance(error, DivergenceError | OutputError) else WRONG_CALL
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        _say(f"{where}{error.strerror or error}", "red")
    elif isinstance(error, MemoryError):
        _say("there is not enough memory: use fewer or smaller inputs", "red")
    else:
        name = type(error).__name__
        _say(f"unexpected {name}: {error} (set DISSENSUS_DEBUG=1 to see where, and please report it)", "red")
    return WORK_FAILED


def _give_stdout_up_if_broken() -> None:
    """Sees to it that Python does not complain once more, with another exit code, when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(sentence: str, colour: str) -> None:
    messages().print(sentence, style=colour, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def speaking_of(data: str | Path) -> Iterator[None]:
    """Inside, what is said of the detector's ``X`` is said of ``data``, which is the name a person gave."""
    try:
        yield
    except DataError as error:
        raise DataError(renamed(str(error), data)) from error
