"""A progress bar over known work, whose time left is an honest one: work left over the speed so far."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

__all__ = ["DECODING", "TRAINING", "WorkProgress"]

# Relative costs of one image: forwards and backwards through both networks, and once through the decoder.
TRAINING = 6.0
DECODING = 1.0


class WorkProgress:
    """Counts units of work; finished pieces are lines of their own, which also reach a log file."""

    def __init__(self, console: Console, total: float) -> None:
        self.console = console
        self._done = 0.0
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            console=console,
            speed_estimate_period=600,  # seconds; training and scoring alternate, so look back over both
        )
        self._task = self._bar.add_task("starting", total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def begin(self, what: str) -> None:
        """Says what is being worked on."""
        self._bar.update(self._task, description=what)

    def advance(self, work: float) -> None:
        """Some of the current piece is done."""
        self._bar.advance(self._task, work)

    def finish(self, work: float, line: str) -> None:
        """A piece that was foretold as ``work`` is done, whatever was counted for it on the way."""
        self._done += work
        self._bar.update(self._task, completed=self._done)
        self.console.print(line, highlight=False)
