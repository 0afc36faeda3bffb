"""One bar over known work, with an honest time left: work left over the speed so far."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

__all__ = ["ShownBar", "WorkBar"]


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
    ``transient`` bar leaves nothing behind; a ``quiet`` one is not shown.
    """

    def __init__(
        self, console: Console, total: float, *, transient: bool = False, quiet: bool = False
    ) -> None:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        self.console = console
        self._total = total or 1.0
        self._began: tuple[float, float] | None = None  # when, and at how much work
        self._bar = Progress(
            TextColumn("{task.description:<12}"),
            TextColumn("{task.fields[detail]:>12}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            transient=transient,
            disable=quiet,
        )
        self._task = self._bar.add_task("starting", total=self._total, detail="", left="")

    def show(self, done: float, *, what: str | None = None, detail: str = "") -> None:
        """So much of all work is done; ``what`` is being worked on."""
        self._bar.update(
            self._task, completed=done, description=what, detail=detail, left=self._time_left(done)
        )

    def _time_left(self, done: float) -> str:
        now = time.monotonic()
        if self._began is None:
            self._began = now, done
        began, first = self._began
        if done <= first or done >= self._total:
            return ""
        seconds = round((now - began) * (self._total - done) / (done - first))
        return f"about {seconds // 60}:{seconds % 60:02d} left"
