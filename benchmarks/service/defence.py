"""How a service bears attacks: what honest clients and probes see, its memory, its end."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.pieces import Found
from benchmarks.places import ROOT
from benchmarks.service.attacks.target import HOST
from benchmarks.service.load import Question, answer_of, score_questions
from benchmarks.service.process import ServerProcess, server_process

__all__ = ["GOALS", "Plan", "measure_defence", "missed"]

FILES = 1024  # that the service may have open
LATE = 120.0  # seconds after which an honest client gives up: a number in a record, and no longer wait
BEGUN = 4.0  # seconds that an attack gets before honest clients begin: its process is started in them
# Seconds, seconds, number, MiB, seconds: what a record must keep.
GOALS = {
    "p99_seconds": 1.0,
    "liveness_seconds": 0.5,
    "failures": 0.0,
    "memory_mib": 1024.0,
    "stop_seconds": 35.0,
}


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    seconds: float = 20.0
    """Of each attack."""
    pause: float = 0.1
    """Seconds between an honest request's answer and the next."""
    scale: float = 1.0


@dataclass
class _Seen:
    """What honest clients saw."""

    seconds: list[float] = field(default_factory=list)
    liveness: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    """0: no answer."""
    memory: list[float] = field(default_factory=list)


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
            seen = asyncio.run(_asked(server, questions, names, plan))
            on_stage("is told to stop")
            with _attacking(server, names, plan):
                time.sleep(BEGUN if names else 0.0)
                began = time.monotonic()
                server.terminate()
                code = server.exit_code()
                stop = time.monotonic() - began
        log.seek(0, 2)
        log_mib = log.tell() / (1 << 20)
    fives = sum(count for status, count in seen.statuses.items() if status == 0 or status >= 500)
    row = {
        "requests": sum(seen.statuses.values()),
        "failures": fives,
        "refused": sum(count for status, count in seen.statuses.items() if 400 <= status < 500),
        "p50_seconds": _quantile(seen.seconds, 0.5),
        "p99_seconds": _quantile(seen.seconds, 0.99),
        "liveness_seconds": max(seen.liveness, default=None),
        "memory_mib": max(seen.memory, default=None),
        "log_mib": log_mib,
        "stop_seconds": stop,
        "exit_code": code,
    }
    return Found([row], {"statuses": {str(status): count for status, count in sorted(seen.statuses.items())}})


def missed(row: dict[str, Any]) -> list[str]:
    """The goals that a row of a record does not keep."""
    return [name for name, goal in GOALS.items() if row[name] is None or row[name] > goal]


async def _asked(
    server: ServerProcess, questions: Sequence[Question], names: Sequence[str], plan: Plan
) -> _Seen:
    """What honest clients see while the attacks are made."""
    seen = _Seen()
    with _attacking(server, names, plan):
        await asyncio.sleep(BEGUN if names else 0.0)
        end = time.monotonic() + plan.seconds
        live = f"GET /v2/health/live HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode()
        numbers = iter(range(1 << 62))

        async def single() -> None:
            question = questions[next(numbers) % len(questions)]
            request = question.request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)
            took, status = await _once(server.port, request)
            seen.statuses[status] += 1
            if status in (0, 200):  # a refusal may come soon, and is no answer
                seen.seconds.append(took)

        async def probe() -> None:
            took, _ = await _once(server.port, live)
            seen.liveness.append(took)
            seen.memory.append(server.memory_of_all())

        async def again(ask: Callable[[], Any]) -> None:
            while time.monotonic() < end:
                await ask()
                await asyncio.sleep(plan.pause)

        await asyncio.gather(again(single), again(probe))
    return seen


async def _once(port: int, request: bytes) -> tuple[float, int]:
    """The seconds to an answer on a connection of its own, and its status; 0 if there is none."""
    began = time.perf_counter()
    status = 0
    with contextlib.suppress(OSError, EOFError, asyncio.IncompleteReadError, TimeoutError):
        async with asyncio.timeout(LATE):
            reader, writer = await asyncio.open_connection(HOST, port)
            try:
                writer.write(request)
                status = (await answer_of(reader)).status
            finally:
                writer.transport.abort()
    return time.perf_counter() - began, status


@contextlib.contextmanager
def _attacking(server: ServerProcess, names: Sequence[str], plan: Plan) -> Any:
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


def _quantile(seconds: Sequence[float], share: float) -> float | None:
    return float(np.quantile(seconds, share)) if seconds else None
