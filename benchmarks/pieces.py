"""What a benchmark measures, in pieces: each leaves a record once it is done, and none is done twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rich.console import Console

from benchmarks.records import Record, Records
from dissensus.evaluation import environment

__all__ = ["Found", "Piece", "measure_missing"]


class Found(NamedTuple):
    """What measuring gave; see :class:`~benchmarks.records.Record`."""

    rows: Sequence[Mapping[str, Any]]
    about: Mapping[str, Any] = {}
    seconds: Mapping[str, float] = {}
    """Of what was done within; how long the whole took is added."""


@dataclass(frozen=True)
class Piece:
    """One record to be: where it goes, all that it depends on, and how it is measured."""

    group: str
    name: str
    settings: Mapping[str, Any]
    measure: Callable[[Callable[[str], None]], Found]
    """Is given a function to say what is going on."""
    seed: int | None = None
    gpu: str | None = field(default=None, kw_only=True)

    @property
    def title(self) -> str:
        """As in ``fused, seed 2``."""
        return self.name if self.seed is None else f"{self.name}, seed {self.seed}"


def measure_missing(records: Records, pieces: Iterable[Piece], log: Console, *, again: bool = False) -> None:
    """Measure and record what has no record of the same settings yet, or everything ``again``."""
    for piece in pieces:
        if not again and records.find(piece.group, piece.name, piece.seed, piece.settings):
            log.print(f"{piece.title}: was measured with the same settings (--again measures it anew)")
            continue
        started = time.perf_counter()
        with log.status(f"measuring {piece.title}") as status:
            found = piece.measure(lambda stage, title=piece.title: status.update(f"{title}: {stage}"))  # type: ignore[misc]
        took = time.perf_counter() - started
        record = Record(
            piece.name,
            piece.seed,
            piece.settings,
            found.rows,
            {"all": took, **found.seconds},
            found.about,
            environment(gpu=piece.gpu),
            records.quick,
        )
        records.add(piece.group, record)
        log.print(f"{piece.title}: {took:.0f} s")
        for note in found.about.get("notes", ()):
            log.print(note, style="yellow", markup=False)
