"""What is done to a server, and the record of how it bore it."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.service.cheap import cheap_clients
from benchmarks.service.library import HOW, library_rates
from benchmarks.service.load import Load, Question, ask_once, run_clients, score_questions
from benchmarks.service.process import MEMORY, ServerProcess, server_process
from dissensus.detector import BayesianVAE
from dissensus.errors import DissensusError
from dissensus.evaluation import cores

__all__ = ["Plan", "measure_service"]

GOAL = 0.8  # of the library's own rate
FLAT = 0.05  # of the memory after a tenth of the requests that may be added by all others
SWAPS = 3
LIBRARY_RUNS = 3  # before the service is measured, and as many after: a busy machine shows in their spread
PATIENCE = 60.0  # seconds beyond those of the plan for all swaps
THROUGHPUT = 2  # parts, the first
SEVERAL = 8  # pictures a request, of clients that have more than one
OnStage = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """How much is measured."""

    clients: int = 64
    seconds: float = 30.0
    """Of each part, but that of memory."""
    requests: int = 20_000
    """Of the part of memory."""
    bound: float = 5.0
    """Seconds that the server is given for a request, and that the slowest in a hundred must keep."""


def measure_service(
    gate: BayesianVAE,
    images: NDArray[np.uint8],
    plan: Plan,
    *,
    small: BayesianVAE | None = None,
    only_throughput: bool = False,
    on_stage: OnStage = lambda _: None,
) -> dict[str, dict[str, Any]]:
    """How a server with ``gate`` bore each part, asked about ``images`` (N, H, W, C); JSON values.

    The part of memory is about requests and not about scoring: ``small`` answers there, if it is given, so
    that many requests take a minute. With ``only_throughput``, only what a request costs is measured.
    """
    with tempfile.TemporaryDirectory() as folder:
        subject = _Subject(gate, Path(folder) / "gate", images, plan)
        lasting = subject if small is None else _Subject(small, Path(folder) / "small", images, plan)
        on_stage("the library, before")
        before = subject.library()
        record: dict[str, dict[str, Any]] = {"library": {}}
        parts = (
            ("throughput", subject.throughput),
            ("several_a_request", subject.several),
            ("overload", subject.overload),
            ("swap", subject.swap),
            ("termination", subject.termination),
            ("memory", lasting.memory),
        )
        for name, part in parts[:THROUGHPUT] if only_throughput else parts:
            on_stage(name.replace("_", " "))
            record[name] = asyncio.run(part())
            if name == "several_a_request":
                on_stage("the library, after")
                after = subject.library()
    rate = float(np.median(before + after))
    record["library"] = {
        "inputs_a_second": rate,
        "before": before,
        "after": after,
        "inputs": len(images),
        "cores": cores(),
        "how": HOW,
    }
    for name in ("throughput", "several_a_request"):
        share = record[name]["inputs_a_second"] / rate
        record[name] |= {
            "share_of_library": share,
            "goal": GOAL,
            "kept": record[name]["kept"] and share >= GOAL,
        }
    if not only_throughput:
        record["memory"]["gate"] = "the same" if small is None else "a small one, so that it ends in a minute"
    return record


class _Subject:
    """A saved gate with what is known of it, and the ways to try its server."""

    def __init__(self, gate: BayesianVAE, saved: Path, images: NDArray[np.uint8], plan: Plan) -> None:
        self._saved, self._images, self._plan = saved, images, plan
        self._scores = gate.decide(images).score
        gate.save(saved)

    def library(self) -> list[float]:
        """Inputs a second of the library itself."""
        file = self._saved.with_name("images.npy")
        np.save(file, self._images)
        return library_rates(self._saved, file, runs=LIBRARY_RUNS)

    async def throughput(self, size: int = 1) -> dict[str, Any]:
        """All clients at once, for a time; one picture a request."""
        with self._server() as server:
            ask = partial(
                cheap_clients,
                server.host,
                server.port,
                self._questions(server, size),
                clients=max(1, self._plan.clients // size),
            )
            await asyncio.to_thread(ask, seconds=min(3.0, self._plan.seconds))  # warm
            before = server.processor_seconds()
            load, clients = await asyncio.to_thread(ask, seconds=self._plan.seconds)
            taken = server.processor_seconds() - before
        record = load.to_record()
        in_time = record["p99_seconds"] is not None and record["p99_seconds"] <= self._plan.bound
        kept = _whole(load) and set(load.statuses) == {200} and in_time
        return record | {
            "clients": self._plan.clients,
            "bound_seconds": self._plan.bound,
            "kept": kept,
            # What both take of the cores says more than the clock where other programs want them too.
            "server_processor_seconds": taken,
            "clients_processor_seconds": clients,
            "load_average": os.getloadavg()[0],
        }

    async def several(self) -> dict[str, Any]:
        """The same with several pictures a request."""
        return await self.throughput(SEVERAL)

    async def overload(self) -> dict[str, Any]:
        """Four times the clients, and a queue that cannot hold them: some are refused, and nothing else."""
        queue = self._plan.clients
        with self._server("--queue", str(queue)) as server:
            load = await self._for_a_time(server, 1, seconds=self._plan.seconds / 2, times=4)
        kept = _whole(load) and set(load.statuses) == {200, 429} and not load.without_retry_after
        return load.to_record() | {"clients": 4 * self._plan.clients, "queue": queue, "kept": kept}

    async def swap(self) -> dict[str, Any]:
        """The gate is replaced again and again while it is asked; scores stay, thresholds change."""
        versions: list[str] = []

        async def swapping(_: Load) -> None:
            for number in range(SWAPS):
                await asyncio.sleep(self._plan.seconds / (2 * SWAPS))
                await asyncio.to_thread(replace, 0.1 + 0.01 * number)
                await new_version()

        def replace(rate: float) -> None:
            other = BayesianVAE.load(self._saved, device="cpu")
            other.set_params(false_alarm_rate=rate).save(self._saved)

        async def new_version() -> None:
            while True:
                found = (await ask_once(server.host, server.port, "/gate"))["version"]
                if found not in versions:
                    versions.append(found)
                    return
                await asyncio.sleep(0.1)

        original = self._saved.with_name("original")
        shutil.copytree(self._saved, original)
        try:
            with self._server("--poll", "0.2") as server:
                await new_version()
                async with asyncio.timeout(10 * self._plan.seconds + PATIENCE):
                    load = await self._until(server, swapping)
        finally:
            shutil.rmtree(self._saved)
            original.rename(self._saved)
        kept = _whole(load) and set(load.statuses) == {200} and len(versions) == SWAPS + 1
        return load.to_record() | {"versions": len(versions), "kept": kept}

    async def termination(self) -> dict[str, Any]:
        """SIGTERM in the middle: all that was sent is answered, and the process ends well."""

        async def ending(_: Load) -> None:
            await asyncio.sleep(min(5.0, self._plan.seconds / 2))
            server.terminate()

        with self._server() as server:
            load = await self._until(server, ending, then_stop=False)
            code = await asyncio.to_thread(server.exit_code)
        kept = _whole(load) and set(load.statuses) == {200} and code == 0
        return load.to_record() | {"exit_code": code, "kept": kept}

    async def memory(self) -> dict[str, Any]:
        """Resident memory after each twentieth of many requests."""
        total, found = self._plan.requests, list[tuple[int, float]]()
        if not MEMORY.exists():
            raise DissensusError(f"the memory of a process is read from {MEMORY}, and this system has none")

        def more() -> bool:
            sent = next(counter)
            if sent % max(1, total // 20) == 0:
                found.append((sent, server.memory()))
            return sent < total

        counter = iter(range(1 << 62))
        with self._server() as server:
            load = await run_clients(
                server.host, server.port, self._questions(server, 1), clients=self._plan.clients, more=more
            )
            found.append((load.requests, server.memory()))
        settled = next(memory for sent, memory in found if sent >= total // 10)
        growth = max(memory for _, memory in found) - settled
        kept = _whole(load) and growth <= FLAT * settled
        samples = [{"requests": sent, "mib": memory} for sent, memory in found]
        return load.to_record() | {
            "settled_mib": settled,
            "growth_mib": growth,
            "allowed_share": FLAT,
            "samples": samples,
            "kept": kept,
        }

    def _server(self, *options: str) -> Any:
        return server_process(self._saved, "--timeout", str(self._plan.bound), *options)

    def _questions(self, server: ServerProcess, size: int) -> list[Question]:
        return score_questions(self._images, self._scores, size=size, host=server.host)

    async def _for_a_time(self, server: ServerProcess, size: int, *, seconds: float, times: int = 1) -> Load:
        end = time.perf_counter() + seconds
        return await run_clients(
            server.host,
            server.port,
            self._questions(server, size),
            clients=max(1, times * self._plan.clients // size),
            more=lambda: time.perf_counter() < end,
        )

    async def _until(
        self, server: ServerProcess, done: Callable[[Load], Awaitable[None]], *, then_stop: bool = True
    ) -> Load:
        """Asks while something is done, and then stops or goes on until the connections are closed."""
        going = True

        async def meanwhile(load: Load) -> None:
            nonlocal going
            try:
                await done(load)
            finally:
                going = not then_stop

        return await run_clients(
            server.host,
            server.port,
            self._questions(server, 1),
            clients=self._plan.clients,
            more=lambda: going,
            meanwhile=meanwhile,
        )


def _whole(load: Load) -> bool:
    return load.requests > 0 and not load.lost and not load.wrong
