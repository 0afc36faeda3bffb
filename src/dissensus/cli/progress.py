"""The bars of the commands: one over all stages of a piece of work, and one for downloads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dissensus.cli.console import messages
from dissensus.progress import ShownBar, WorkBar

if TYPE_CHECKING:
    from dissensus.detector import Detector

__all__ = ["AGAIN", "SAMPLING", "Downloads", "StageProgress", "fit_work"]

SAMPLING, TRIMMING, AGAIN = "sampling", "trimming", "sampling again"  # as the fit calls its stages
TRAINING_COST = 5.0  # of one image forwards and backwards, in decodings; measured on CPUs


def fit_work(gate: Detector, count: int, *, rows: bool = False, twice: bool = False) -> dict[str, float]:
    """The stages of fitting on so many rows or pictures, once or twice, and about what each is worth.

    It is counted in decodings.
    """
    from dissensus.detector.sampling import expected_sampler
    from dissensus.schedule import default_batch_size, default_epochs

    training, calibration = 0.8 * count, 0.15 * count
    sampler = expected_sampler(gate, rows=rows)
    batch_size = gate.batch_size or default_batch_size(max(1, int(training)))
    epochs = gate.epochs or default_epochs(max(1, int(training)), batch_size)
    sampling = TRAINING_COST * sampler.chains * epochs * training
    again = {TRIMMING: training * sampler.draws * gate.samples, AGAIN: sampling}
    return {
        SAMPLING: sampling,
        **(again if twice else {}),
        "calibrating": calibration * sampler.draws * gate.samples,
    }


class StageProgress(WorkBar):
    """A callback ``(stage, done, total)`` that draws a bar on stderr, or lines if that is no terminal.

    ``work`` says how much each stage is worth, in the order they come.
    """

    def __init__(self, work: Mapping[str, float], *, quiet: bool = False) -> None:
        self.last: tuple[str, int, int] | None = None
        self._work = dict(work)
        super().__init__(messages(), sum(self._work.values()), transient=True, quiet=quiet)

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Some of a stage is done."""
        self.last = stage, done, total
        before = 0.0
        for name, work in self._work.items():
            if name == stage:
                break
            before += work
        detail = f"{done}/{total}" if stage in (SAMPLING, AGAIN) else ""
        self.show(before + self._work.get(stage, 0.0) * done / max(total, 1), what=stage, detail=detail)


class Downloads(ShownBar):
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
