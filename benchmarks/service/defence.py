"""How a service bears attacks: what honest clients and probes see, its memory, its end."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.pieces import Found
from benchmarks.places import ROOT
from benchmarks.service.honest import Seen, ask_honestly
from benchmarks.service.load import score_questions
from benchmarks.service.process import ServerProcess, server_process

__all__ = ["GOALS", "Plan", "goals", "measure_defence", "missed"]

FILES = 1024  # that the service may have open
MEMORY_PAUSE = 0.02  # seconds
BEGUN = 4.0  # seconds that an attack gets before honest clients begin: its process is started in them
# Seconds, seconds, number, number, MiB, seconds: what a record must keep.
GOALS = {
    "p99_seconds": 1.0,
    "liveness_seconds": 0.5,
    "failures": 0.0,
    "failed_probes": 0.0,
    "memory_mib": 1024.0,
    "stop_seconds": 35.0,
}
FAIR = {"times_alone": 3.0}
"""Of the median of single pictures beside large batches, to that without them."""


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    seconds: float = 12.0
    """Of each attack."""
    alone: float = 4.0
    """Seconds before it, in which only the honest clients ask."""
    clients: int = 6
    """Honest ones; besides, one asks whether the service lives and is ready."""
    pause: float = 0.25
    """Seconds between a client's answer and its next request."""
    scale: float = 1.0


def measure_defence(
    gate: Path,
    images: NDArray[np.uint8],
    names: Sequence[str],
    plan: Plan,
    *,
    source: Path = ROOT / "src",
    on_stage: Callable[[str], None] = lambda _: None,
) -> Found:
    """What these attacks do, all at once, to a service of ``gate`` whose code is in ``source``."""
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w+") as log:
        on_stage("begins")
        with server_process(gate, source=source, files=FILES, log=log) as server:
            questions = score_questions(images, np.zeros(len(images)), size=1, host=server.host)

            def asked(seconds: float) -> Seen:
                return asyncio.run(
                    ask_honestly(
                        server.port,
                        questions,
                        seconds=seconds,
                        clients=plan.clients,
                        pause=plan.pause,
                    )
                )

            before = asked(plan.alone)
            with _most_memory(server) as memory, _attacking(server, names, plan):
                time.sleep(BEGUN if names else 0.0)
                seen = asked(plan.seconds)
            on_stage("is told to stop")
            with _attacking(server, names, plan):
                time.sleep(BEGUN if names else 0.0)
                began = time.monotonic()
                server.terminate()
                code = server.exit_code()
                stop = time.monotonic() - began
        log.seek(0, 2)
        log_mib = log.tell() / (1 << 20)
    p50, alone = seen.quantile(0.5), before.quantile(0.5)
    row = {
        "requests": seen.requests,
        "failures": seen.failures,
        "refused": seen.refused,
        "failed_probes": seen.failed_probes,
        "p50_seconds": p50,
        "p99_seconds": seen.quantile(0.99),
        "times_alone": p50 / alone if p50 and alone else None,
        "liveness_seconds": max(seen.probe_seconds, default=None),
        "memory_mib": memory.most,
        "log_mib": log_mib,
        "stop_seconds": stop,
        "exit_code": code,
    }
    statuses = {str(status): count for status, count in sorted(seen.statuses.items())}
    probes = {str(status): count for status, count in sorted(seen.probe_statuses.items())}
    return Found([row], {"statuses": statuses, "probes": probes})


def goals(names: Sequence[str]) -> Mapping[str, float]:
    """What a service must keep under these attacks."""
    return GOALS | FAIR if list(names) == ["large-batches"] else GOALS


def missed(names: Sequence[str], row: Mapping[str, Any]) -> list[str]:
    """The goals that a row of a record does not keep; what was not measured in it is not judged."""
    kept = goals(names)
    return [name for name in kept if name in row and (row[name] is None or row[name] > kept[name])]


@dataclass
class _Memory:
    most: float = 0.0


@contextlib.contextmanager
def _most_memory(server: ServerProcess) -> Iterator[_Memory]:
    """The most MiB that a service and its processes have at one time during the block, as far as is seen.

    The most of each would be more: the picture decoders have theirs at different times.
    """
    found, over = _Memory(), threading.Event()

    def watch() -> None:
        while not over.wait(MEMORY_PAUSE):
            found.most = max(found.most, server.memory_of_all())

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield found
    finally:
        over.set()
        watching.join()


@contextlib.contextmanager
def _attacking(server: ServerProcess, names: Sequence[str], plan: Plan) -> Iterator[None]:
    """The attacks, each in a process of its own, for the block; they end by themselves."""
    options = ["--seconds", str(plan.seconds + 2 * BEGUN), "--scale", str(plan.scale)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.service.attacks", name, str(server.port), *options],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for name in names
    ]
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()
