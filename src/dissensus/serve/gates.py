"""The gates that are served: replaced while they are asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.detector import Detector
from dissensus.detector.asking import Decisions
from dissensus.detector.effort import at_effort
from dissensus.errors import ArtifactError, SettingsError, brief
from dissensus.inputs import Prepared
from dissensus.persistence import CONFIG
from dissensus.serve.aside import aside
from dissensus.serve.batching import Batcher
from dissensus.serve.gate_folder import NAME, Fingerprint, GateFolder, Loaded
from dissensus.serve.logs import log
from dissensus.serve.metrics import Metrics
from dissensus.serve.refusals import Refusal, clear
from dissensus.serve.served import VERSION, Served
from dissensus.serve.settings import ServeSettings
from dissensus.serve.traffic import Traffic
from dissensus.serve.workers import Workers

__all__ = ["Gates"]


class Gates:
    """All gates by name. A replaced one finishes its own queue while the new one takes what comes."""

    def __init__(
        self,
        folder: GateFolder,
        settings: ServeSettings,
        metrics: Metrics,
        on_alarm: Callable[[str, Traffic], None] = lambda *_: None,
    ) -> None:
        self._folder, self._settings, self._metrics, self._on_alarm = folder, settings, metrics, on_alarm
        self._workers: Workers | None = None
        self._served: dict[str, Served] = {}
        self._failed: dict[str, Fingerprint | None] = {}
        self._missing: set[str] = set()
        self._leaving: set[asyncio.Task[None]] = set()
        self._loaded: list[Loaded] = []
        self._pinned = dict(settings.pinned)
        self._unloaded: set[str] = set()
        self.problems: dict[str, str] = {}
        """Why a gate on disk is not the one that is served, by name."""

    def load_all(self) -> None:
        """Reads every gate that is there; an error where none can be read."""
        for name, fingerprint in self._folder.scan().items():
            try:
                self._loaded.append(self._folder.load(name, fingerprint))
            except ArtifactError as error:
                self._note_failure(name, fingerprint, str(error))
        if not self._loaded:
            reason = next(iter(self.problems.values()), f"there is no {CONFIG} in it or in a folder below")
            raise ArtifactError(f"{self._folder.path} holds no gate that can be served: {reason}")
        self._check_names({loaded.name for loaded in self._loaded})

    def start(self, workers: Workers) -> None:
        """Begins to answer; called inside the event loop."""
        self._workers = workers
        for name in self.problems:
            self._log_problem(name)
        for loaded in self._loaded:
            self._serve(loaded)
        self._loaded = []

    async def refresh(self) -> None:
        """Serves what is in the folder now; a gate that cannot be read leaves the older one in place."""
        there = await aside(self._folder.scan)
        for name, fingerprint in there.items():
            served = self._served.get(name)
            known = served is not None and served.loaded.fingerprint == fingerprint
            if known and name in self.problems:  # somebody put the old one back
                self._note_recovery(name)
            if not (known or name in self._unloaded or self._failed.get(name) == fingerprint):
                await self._read(name, fingerprint)
        self._unloaded &= set(there)
        self._remove([name for name in {*self._served, *self._failed} if name not in there])

    async def load(self, name: str) -> None:
        """Reads a gate, or all its versions, from the folder, and serves them; a refusal if one cannot be."""
        there = await aside(self._folder.scan)
        chosen = [one for one in there if name in (one, _plain(one))]
        if not chosen:
            raise Refusal(404, self._about_unknown(name))
        for one in chosen:
            self._unloaded.discard(one)
            await self._read(one, there[one])
            if one in self.problems:
                raise Refusal(422, self.problems[one])

    def unload(self, name: str) -> None:
        """Serves a gate, or all its versions, no more; what was accepted is answered."""
        chosen = [one for one in self._served if name in (one, _plain(one))]
        if not chosen:
            raise Refusal(404, self._about_unknown(name))
        for one in chosen:
            self._unloaded.add(one)
            self._leave(self._served.pop(one))
            log("gate unloaded", gate=one)

    def index(self) -> list[dict[str, str]]:
        """The gates that are known, served or not, as the Open Inference Protocol tells them."""
        entries = []
        for name in sorted({*self._served, *self._failed, *self._unloaded}):
            reason = self.problems.get(name) or ("unloaded" if name in self._unloaded else "")
            state = "READY" if name in self._served else "UNAVAILABLE"
            model, _, version = name.partition("/")
            entries.append({"name": model, "version": version or VERSION, "state": state, "reason": reason})
        return entries

    async def _read(self, name: str, fingerprint: Fingerprint) -> None:
        try:
            loaded = await aside(self._folder.load, name, fingerprint)
        except Exception as error:
            self._note_failure(name, fingerprint, brief(error))
        else:
            self._note_recovery(name)
            self._serve(loaded)

    async def close(self) -> None:
        """Finishes every queue."""
        for served in self._served.values():
            self._leave(served)
        await asyncio.gather(*self._leaving)

    @property
    def names(self) -> list[str]:
        """In alphabetical order."""
        return sorted(self._served)

    def find(self, name: str | None = None, version: str | None = None) -> Served:
        """The gate of that name, or the default one; an unknown one is a refusal.

        Of a gate with several versions, the pinned one answers where none is named.
        """
        if name is None:
            name = self._default_name()
        full = name if version is None else f"{name}/{version}"
        served = self._served.get(full) or self._served.get(f"{name}/{version or self._pinned.get(name)}")
        if served is None and version == VERSION:
            served = self._served.get(name)
        if served is None:
            raise Refusal(404, self._about_unknown(full))
        return served

    @property
    def default(self) -> str | None:
        """Which gate answers where none is named: the one that was chosen, or the only one."""
        if self._settings.default is not None:
            return self._settings.default
        names = {_plain(name) for name in self._served}
        return min(names) if len(names) == 1 else None

    def versions(self, name: str) -> list[str]:
        """Of a gate."""
        found = [served for served in self.names if served.startswith(f"{name}/")]
        return [served.partition("/")[2] for served in found] or [VERSION]

    def _default_name(self) -> str:
        if self.default is None:
            raise Refusal(
                422 if self._served else 404,
                "there are several gates, and none is the default: ask with ?gate=NAME, or start the service "
                "with --default NAME"
                if self._served
                else "there is no gate",
            )
        return self.default

    def _about_unknown(self, name: str) -> str:
        if any(served.startswith(f"{name}/") for served in self._served):
            return (
                f"gate {clear(name)[:100]!r} has several versions: name one, or let the service be started "
                f"with --pin {clear(name)[:100]}=VERSION"
            )
        return f"there is no gate {clear(name)[:100]!r}: ask /gates which there are"

    def _check_names(self, names: set[str]) -> None:
        """The names that an operator gave must be those of gates: an error at the start."""
        wanted = [f"{gate}/{version}" for gate, version in self._settings.pinned]
        if (default := self._settings.default) is not None:
            wanted.append(default)
        for name in wanted:
            if name not in names | {_plain(one) for one in names}:
                reason = self.problems.get(name, f"there are {', '.join(sorted(names))}")
                raise SettingsError(f"the default or pinned gate {name!r} cannot be served: {reason}")

    def all(self) -> list[Served]:
        """In the order of their names."""
        return [self._served[name] for name in self.names]

    def _serve(self, loaded: Loaded) -> None:
        assert self._workers is not None
        older = self._served.get(loaded.name)
        if older is not None and _score_alike(older.gate, loaded.gate):
            traffic = older.traffic
        else:
            traffic = Traffic(loaded.gate.drift_monitor(confidence=self._settings.drift_confidence))

        def on_batch(decisions: Decisions, seconds: float, effort: str | None) -> None:
            self._metrics.observe_batch(loaded.name, decisions, seconds)
            # Drift is told by the scores of one effort: what is asked with another is counted alone.
            if effort is None and traffic.add(decisions):
                self._metrics.drift_alarms.labels(loaded.name).inc()
                self._on_alarm(loaded.name, traffic)

        batcher = self._batcher(loaded, on_batch)
        self._served[loaded.name] = Served(loaded, batcher, traffic)
        self._metrics.expect_gate(loaded.name)
        self._metrics.gate_loads.labels(loaded.name).inc()
        log("gate loaded", gate=loaded.name, version=loaded.facts["version"], replaced=older is not None)
        if older is not None:
            self._leave(older)

    def _batcher(self, loaded: Loaded, on_batch: Callable[[Decisions, float, str | None], None]) -> Batcher:
        """The queue of a gate, for all efforts that it can be asked with."""
        assert self._workers is not None
        gate = loaded.gate
        others = [each.name for each in gate.efforts_ if each.name != gate.effort]
        return Batcher(
            _deciding(gate),
            self._workers,
            others={name: _deciding(at_effort(gate, name)) for name in others},
            max_batch=self._settings.max_batch,
            max_delay=self._settings.max_delay_ms / 1000,
            capacity=self._settings.queue,
            rate=loaded.rate / self._workers.count,
            on_batch=on_batch,
        )

    def _leave(self, served: Served) -> None:
        task = asyncio.create_task(self._end(served))
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _end(self, served: Served) -> None:
        await served.close()
        if served.name not in self._served:  # removed, and not replaced: its last answers are counted
            self._metrics.forget(served.name)

    def _remove(self, gone: list[str]) -> None:
        """Takes gates away that have been missing twice: in between somebody may be moving a new one in."""
        for name in gone:
            self._failed.pop(name, None)
            if name not in self._served:
                self._note_recovery(name)
            elif self._folder.single:
                if name not in self.problems:
                    self._note_failure(name, None, f"gate {name} is gone from the disk")
            elif name in self._missing:
                self._leave(self._served.pop(name))
                self._note_recovery(name)
                log("gate removed", gate=name)
        self._missing = set(gone)

    def _note_failure(self, name: str, fingerprint: Fingerprint | None, reason: str) -> None:
        self._failed[name] = fingerprint
        self.problems[name] = clear(reason)
        self._metrics.gate_failures.labels(name if NAME.fullmatch(name) else "unnamed").inc()
        if self._workers is not None:  # before that nobody has said where logs go
            self._log_problem(name)

    def _log_problem(self, name: str) -> None:
        log("gate refused", level="error", gate=clear(name), reason=self.problems[name])

    def _note_recovery(self, name: str) -> None:
        self._failed.pop(name, None)
        self.problems.pop(name, None)


def _score_alike(one: Detector, other: Detector) -> bool:
    """Whether two saves of a gate decide alike, because only what is remembered of inputs has changed."""
    return (
        np.array_equal(one.calibration_scores_, other.calibration_scores_)
        and one.threshold_ == other.threshold_
        and one.seed_ == other.seed_
    )


def _deciding(gate: Detector) -> Callable[[NDArray[Any]], Decisions]:
    return lambda inputs: gate.decide(Prepared(inputs))  # they were checked when they came


def _plain(name: str) -> str:
    """The name of a gate, without its version."""
    return name.partition("/")[0]
