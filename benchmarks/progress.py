"""The bar of a benchmark: its pieces of work by what they cost, and a line for each that is done."""

from __future__ import annotations

from rich.console import Console

from dissensus.progress import WorkBar

__all__ = ["DECODING", "TRAINING", "WorkProgress"]

# Relative costs of one image: forwards and backwards through both networks, and once through the decoder.
TRAINING = 6.0
DECODING = 1.0


class WorkProgress(WorkBar):
    """Counts units of work; finished pieces are lines of their own, which also reach a log file."""

    def __init__(self, console: Console, total: float) -> None:
        super().__init__(console, total)
        self._finished, self._now = 0.0, 0.0

    def begin(self, what: str) -> None:
        """Says what is being worked on."""
        self.show(self._now, what=what)

    def advance(self, work: float) -> None:
        """Some of the current piece is done."""
        self._now += work
        self.show(self._now)

    def finish(self, work: float, line: str = "") -> None:
        """A piece that was foretold as ``work`` is done, whatever was counted for it on the way."""
        self._finished += work
        self._now = self._finished
        self.show(self._now)
        if line:
            self.console.print(line, highlight=False)
