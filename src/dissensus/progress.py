"""One bar over known work, with an honest time left: work left over the speed so far."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

__all__ = ["ShownBar", "WorkBar"]

EVERY = 5.0  # seconds between two lines


class ShownBar:
    """A bar that is there as long as its ``with`` block."""

    _bar: Progress

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()


class WorkBar(ShownBar):
    """A bar over ``total`` units of work on a console.

    Work that was there already when the first was shown counts for the bar but not for the speed. A
    ``transient`` bar leaves nothing behind; a ``quiet`` one is not shown. Where the console is no terminal
    there is a line every few seconds instead, as long as the work goes on.
    """

    def __init__(
        self, console: Console, total: float, *, transient: bool = False, quiet: bool = False
    ) -> None:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        self.console = console
        self._total = total or 1.0
        self._began: tuple[float, float] | None = None  # when, and at how much work
        self._lined = None if quiet or console.is_terminal else (time.monotonic(), 0.0)
        self._bar = Progress(
            TextColumn("{task.description:<12}"),
            TextColumn("{task.fields[detail]:>12}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            transient=transient,
            disable=quiet or not console.is_terminal,
        )
        self._task = self._bar.add_task("starting", total=self._total, detail="", left="")

    def show(self, done: float, *, what: str | None = None, detail: str = "") -> None:
        """So much of all work is done; ``what`` is being worked on."""
        left = self._time_left(done)
        self._bar.update(self._task, completed=done, description=what, detail=detail, left=left)
        if self._lined is not None:
            self._line(done, what, detail, left)

    def _line(self, done: float, what: str | None, detail: str, left: str) -> None:
        """Prints where the work is, if something was done and the last line is a while ago."""
        assert self._lined is not None
        now, (then, before) = time.monotonic(), self._lined
        if now - then < EVERY or done <= before:
            return
        self._lined = now, done
        parts = [" ".join(filter(None, (what, detail))), f"{100 * done / self._total:.0f}%", left]
        self.console.print(", ".join(filter(None, parts)), markup=False, soft_wrap=True)

    def _time_left(self, done: float) -> str:
        now = time.monotonic()
        if self._began is None:
            self._began = now, done
        began, first = self._began
        if done <= first or done >= self._total:
            return ""
        seconds = round((now - began) * (self._total - done) / (done - first))
        return f"about {seconds // 60}:{seconds % 60:02d} left"
