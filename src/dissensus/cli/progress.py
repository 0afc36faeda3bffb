"""One bar over all stages of a piece of work, with an honest time left: work left over the speed so far."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from dissensus.cli.console import messages

if TYPE_CHECKING:
    from rich.progress import Progress

    from dissensus.detector import BayesianVAE

__all__ = ["Downloads", "StageProgress", "fit_work"]

TRAINING_COST = 5.0  # of one image forwards and backwards, in decodings; measured on CPUs


def fit_work(gate: BayesianVAE, rows: int) -> dict[str, float]:
    """The stages of fitting on ``rows`` rows, and about how many decodings each is worth."""
    from dissensus.schedule import default_batch_size, default_epochs

    training, calibration = 0.8 * rows, 0.15 * rows
    batch_size = gate.batch_size or default_batch_size(max(1, int(training)))
    epochs = gate.epochs or default_epochs(max(1, int(training)), batch_size)
    return {
        "sampling": TRAINING_COST * gate.chains * epochs * training,
        "calibrating": calibration * gate.draws * gate.samples,
    }


class _Shown:
    """A bar that is there as long as its ``with`` block."""

    _bar: Progress

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()


class StageProgress(_Shown):
    """A callback ``(stage, done, total)`` that draws a bar on stderr, if that is a terminal.

    ``work`` says how much each stage is worth, in the order they come. Work that an earlier run has done
    counts for the bar but not for the speed.
    """

    def __init__(self, work: Mapping[str, float], *, quiet: bool = False) -> None:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

        self.last: tuple[str, int, int] | None = None
        self._work = dict(work)
        self._whole = sum(self._work.values()) or 1.0
        self._began: tuple[float, float] | None = None  # when, and at which share of the work
        console = messages()
        self._bar = Progress(
            TextColumn("{task.description:<12}"),
            TextColumn("{task.fields[detail]:>12}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )
        self._task = self._bar.add_task("starting", total=1.0, detail="", left="")

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Some of a stage is done."""
        self.last = stage, done, total
        before = 0.0
        for name, work in self._work.items():
            if name == stage:
                break
            before += work
        share = (before + self._work.get(stage, 0.0) * done / max(total, 1)) / self._whole
        self._bar.update(
            self._task,
            completed=share,
            description=stage,
            detail=f"{done}/{total}" if stage == "sampling" else "",
            left=self._time_left(share),
        )

    def _time_left(self, share: float) -> str:
        now = time.monotonic()
        if self._began is None:
            self._began = now, share
        began, first = self._began
        if share <= first or share >= 1:
            return ""
        seconds = round((now - began) * (1 - share) / (share - first))
        return f"about {seconds // 60}:{seconds % 60:02d} left"


class Downloads(_Shown):
    """A callback ``(file, received, expected)`` for downloads, drawn on stderr if that is a terminal."""

    def __init__(self, *, quiet: bool = False) -> None:
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

        console = messages()
        self._bar = Progress(
            TextColumn("downloading {task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            console=console,
            transient=True,
            disable=quiet or not console.is_terminal,
        )

    def __call__(self, name: str, received: int, expected: int | None) -> None:
        """Some of a file has come."""
        task = next((task for task in self._bar.tasks if task.description == name), None)
        number = self._bar.add_task(name, total=expected) if task is None else task.id
        self._bar.update(number, completed=received)
