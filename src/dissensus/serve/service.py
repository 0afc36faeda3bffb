"""All parts of a running service, and whether it is ready."""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from dissensus.detector.own_names import OwnCode, import_own
from dissensus.errors import SettingsError, brief
from dissensus.serve.aside import aside
from dissensus.serve.bodies import Bodies
from dissensus.serve.confirming import Confirming
from dissensus.serve.decoders import Decoders
from dissensus.serve.ending import Ending
from dissensus.serve.gate_folder import GateFolder
from dissensus.serve.gates import Gates
from dissensus.serve.keys import KeyFile
from dissensus.serve.logs import log
from dissensus.serve.metrics import Metrics
from dissensus.serve.quotas import Quotas
from dissensus.serve.settings import ServeSettings
from dissensus.serve.tracing import make_tracer
from dissensus.serve.traffic import Traffic
from dissensus.serve.webhook import Webhook
from dissensus.serve.workers import Workers

__all__ = ["Service"]

STUCK = 120.0  # seconds of one batch, beyond the time limit of requests: no batch takes as long


class Service:
    """What the endpoints work with. Gates are read when it is made, and answer while it :meth:`runs`."""

    def __init__(self, path: Path, settings: ServeSettings) -> None:
        self.settings, self.metrics, self.ending = settings, Metrics(), Ending.of(settings)
        self.keys = None if settings.keys is None else KeyFile(settings.keys)
        folder = GateFolder(path, device=settings.device, own=_own_code(settings))
        self.gates = Gates(folder, settings, self.metrics, on_alarm=self._on_alarm)
        self.confirming = Confirming(folder, self.gates)
        self.gates.load_all()
        self.bodies = Bodies(settings.max_body, settings.timeout)
        self.tracer: Any = None
        self._end_traces: Callable[[], object] = lambda: None
        if settings.traces:
            self.tracer, self._end_traces = make_tracer()
        self.quotas = Quotas(self.keys, settings.quota)
        self.draining = False
        self.scoring_requests = 0
        self.connections: Collection[object] = ()
        """Those that are open; the server says which, and how many there may be."""
        self.most_connections = settings.connections
        self._workers: Workers | None = None
        self._decoders: Decoders | None = None
        self._webhook: Webhook | None = None
        self.metrics.watch(self.gates.all, self._now)

    @property
    def workers(self) -> Workers:
        """The threads; there are none before the service runs."""
        assert self._workers is not None
        return self._workers

    @property
    def decoders(self) -> Decoders:
        """The processes that decode pictures; there are none before the service runs."""
        assert self._decoders is not None
        return self._decoders

    @asynccontextmanager
    async def runs(self) -> AsyncIterator[None]:
        """Answers while the block lasts; what was accepted is finished before it ends."""
        # A gate fitted on a frame is asked with arrays here; their columns were put in order by name.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        self._workers = Workers(self.settings.worker_count)
        self._decoders = Decoders(
            self.settings.decoders,
            seconds=self.settings.decode_timeout,
            memory=self.settings.decoder_memory,
            most_pixels=self.settings.max_pixels,
            count_outcome=self.metrics.count_picture,
        )
        if self.settings.webhook is not None:
            self._webhook = Webhook(self.settings.webhook, self.metrics)
        self.gates.start(self._workers)
        if self._takes_pictures():
            await self._decoders.start()
        watching = [asyncio.create_task(self._watch())]
        if self.keys is not None:
            watching.append(asyncio.create_task(self._watch_keys(self.keys)))
        try:
            yield
        finally:
            self.draining = True
            for task in watching:
                task.cancel()
            await asyncio.gather(*watching, return_exceptions=True)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.confirming.close(), self.ending.confirmations)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.gates.close(), self.ending.batches)
            await self._say_farewell()
            await self._decoders.close()
            self._workers.close()

    async def _say_farewell(self) -> None:
        """Lets those hear the last who are told of alarms and requests; they may not answer."""
        last = [aside(self._end_traces)]
        if self._webhook is not None:
            last.append(self._webhook.close())
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*last, return_exceptions=True), self.ending.farewells)

    def finish(self) -> None:
        """Accept nothing new, and let what was accepted come to its end soon."""
        if self._decoders is not None:
            self._decoders.finish()

    def problems(self) -> list[str]:
        """Why requests should go elsewhere; none means that they are answered."""
        found = []
        if self.draining:
            found.append("the service is stopping")
        if self._workers is None:
            found.append("the service is starting")
        elif self._workers.longest() > self.settings.timeout + STUCK:
            found.append("a worker is stuck")
        if self._decoders is not None and self._takes_pictures():
            found += self._decoders.problems()
        if not self.gates.names:
            found.append("there is no gate")
        found += [
            f"gate {served.name} has stopped" for served in self.gates.all() if not served.batcher.alive
        ]
        return found

    def _now(self) -> dict[str, float]:
        """What metrics tell of the moment."""
        decoders = self._decoders
        return {
            "dissensus_ready": not self.problems(),
            "dissensus_connections": len(self.connections),
            "dissensus_connections_limit": self.most_connections,
            "dissensus_decode_queue_pictures": 0 if decoders is None else decoders.waiting,
            "dissensus_decoding_pictures": 0 if decoders is None else decoders.busy,
            "dissensus_body_bytes": self.bodies.held,
        }

    def _takes_pictures(self) -> bool:
        return any(served.kind == "images" for served in self.gates.all())

    async def _watch(self) -> None:
        """Looks after the gates; whatever happens, it goes on with those there are."""
        while True:
            await asyncio.sleep(self.settings.poll)
            try:
                await self.gates.refresh()
            except Exception as error:
                log("watching failed", level="error", reason=f"{type(error).__name__}: {brief(error)}")

    async def _watch_keys(self, keys: KeyFile) -> None:
        """Looks after the keys, on its own: to read a gate takes seconds, and a revoked key must not wait."""
        said = ""
        while True:
            await asyncio.sleep(self.settings.poll)
            try:
                if keys.refresh():
                    log("keys read again", level="info" if keys.names else "warning", keys=len(keys.names))
                said = ""
            except SettingsError as error:
                if str(error) != said:
                    log("keys refused", level="error", reason=(said := str(error)))

    def _on_alarm(self, gate: str, traffic: Traffic) -> None:
        drift = traffic.drift()
        log("drift alarm", level="warning", gate=gate, log_capital=round(drift["log_capital"], 3))
        if self._webhook is not None:
            self._webhook.post({"event": "drift", "gate": gate, "time": time.time(), "drift": drift})


def _own_code(settings: ServeSettings) -> OwnCode:
    """What the operator named: names in gates are never imported."""
    return import_own(
        scores=settings.scores,
        models=settings.models,
        observations=settings.observations,
        embedders=settings.embedders,
    )
