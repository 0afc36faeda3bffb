"""The gates that are served: loaded from a folder, and replaced while they are asked."""

from __future__ import annotations

import asyncio
import json
import re
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dissensus.detector import Detector
from dissensus.detector.asking import Decisions
from dissensus.detector.effort import at_effort
from dissensus.detector.own_names import OwnCode, import_own
from dissensus.errors import ArtifactError, DissensusError, brief
from dissensus.inputs import Prepared
from dissensus.persistence import CONFIG, OTHERS
from dissensus.serve.batching import GRAIN, Batcher
from dissensus.serve.facts import gate_columns, gate_facts, gate_kind
from dissensus.serve.logs import log
from dissensus.serve.metrics import Metrics
from dissensus.serve.refusals import Refusal, clear
from dissensus.serve.settings import ServeSettings
from dissensus.serve.traffic import Traffic
from dissensus.serve.workers import Workers

__all__ = ["GateFolder", "Gates", "Loaded", "Served"]

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
Fingerprint = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Loaded:
    """A gate as it was read from its folder."""

    name: str
    gate: Detector
    fingerprint: Fingerprint
    facts: Mapping[str, Any]
    kind: str
    columns: tuple[str, ...] | None
    rate: float
    """Inputs a second that it scored when it was tried, right after it was read."""


class GateFolder:
    """A folder that is a gate, or a folder of gates; a gate is called by its folder's name."""

    def __init__(self, path: Path, *, device: str = "cpu", own: OwnCode | None = None) -> None:
        self.path, self.device, self.own = path, device, own or import_own()
        self.single = (path / CONFIG).is_file()
        if not path.is_dir():
            raise ArtifactError(f"{path} is no folder: name one that `dissensus fit` saved, or one of such")

    def scan(self) -> dict[str, Fingerprint]:
        """What identifies each gate that is there now, by name."""
        folders = [self.path] if self.single else self._below()
        found = {self.name_of(folder): _fingerprint(folder) for folder in folders}
        return {name: print_ for name, print_ in sorted(found.items()) if print_}

    def load(self, name: str, fingerprint: Fingerprint) -> Loaded:
        """Reads a gate; a broken one is an ArtifactError that names it and no path of this machine."""
        folder = self.path if self.single else self.path / name
        try:
            if NAME.fullmatch(name) is None:
                raise ArtifactError("its name must be of letters, digits, dots, dashes and underscores")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what they would say is among the facts
                gate = Detector.load(folder, device=self.device, **self.own)
            if gate.preprocessor_.kind == "objects":
                raise ArtifactError("it takes what no request can carry: fit it on pictures, rows or a table")
            facts = gate_facts(gate, name, _version(folder))
            rate = _tried(gate)
        except (DissensusError, OSError, ValueError) as error:
            reason = brief(error).replace(f"{folder}/", "").replace(str(folder), "it")
            raise ArtifactError(f"gate {name} cannot be loaded: {reason}") from error
        return Loaded(name, gate, fingerprint, facts, gate_kind(gate), gate_columns(gate), rate)

    def name_of(self, folder: Path) -> str:
        """What the gate in that folder is called."""
        name = folder.resolve().name
        return "gate" if self.single and NAME.fullmatch(name) is None else name

    def _below(self) -> list[Path]:
        try:
            # Those with a dot in front are being written.
            return [folder for folder in self.path.iterdir() if not folder.name.startswith(".")]
        except OSError:
            return []


def _tried(gate: Detector) -> float:
    """Inputs a second of a gate that scores blank ones: so it is ready, and its queue knows its speed."""
    blank = Prepared(gate.preprocessor_.blank(GRAIN))
    gate.decide(blank)  # the first one makes what all later ones use
    began = time.perf_counter()
    gate.decide(blank)
    return len(blank) / max(time.perf_counter() - began, 1e-6)


class Served:
    """A gate that answers: its queue, and what it has answered so far.

    Who asks it does so in a ``with`` block: a gate that is replaced meanwhile stays for as long.
    """

    def __init__(
        self, loaded: Loaded, batcher: Batcher, traffic: Traffic, efforts: Mapping[str, Batcher]
    ) -> None:
        self.loaded, self.batcher, self.traffic = loaded, batcher, traffic
        self._efforts = efforts
        self.name, self.gate, self.kind = loaded.name, loaded.gate, loaded.kind
        self.shape: tuple[int, ...] = loaded.gate.preprocessor_.shape
        self.columns = loaded.columns
        self.explaining = 0
        self._asking = 0

    def asked(self, effort: str | None) -> Batcher:
        """The queue of an effort; the gate's own, if none is named or there is but one way to ask."""
        return self.batcher if effort is None else self._efforts.get(effort, self.batcher)

    async def close(self) -> None:
        """Ends once nobody asks any more; a request may have found it and still be sending its body."""
        while self._asking:
            await asyncio.sleep(0.01)
        for batcher in (self.batcher, *self._efforts.values()):
            await batcher.close()

    def __enter__(self) -> Served:
        self._asking += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._asking -= 1


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
        there = await asyncio.to_thread(self._folder.scan)
        for name, fingerprint in there.items():
            served = self._served.get(name)
            known = served is not None and served.loaded.fingerprint == fingerprint
            if known and name in self.problems:  # somebody put the old one back
                self._note_recovery(name)
            if known or self._failed.get(name) == fingerprint:
                continue
            try:
                loaded = await asyncio.to_thread(self._folder.load, name, fingerprint)
            except Exception as error:
                self._note_failure(name, fingerprint, brief(error))
            else:
                self._note_recovery(name)
                self._serve(loaded)
        self._remove([name for name in {*self._served, *self._failed} if name not in there])

    async def close(self) -> None:
        """Finishes every queue."""
        for served in self._served.values():
            self._leave(served)
        await asyncio.gather(*self._leaving)

    @property
    def names(self) -> list[str]:
        """In alphabetical order."""
        return sorted(self._served)

    def find(self, name: str | None = None) -> Served:
        """The gate of that name, or the first; an unknown one is a refusal."""
        if name is None and self._served:
            return self._served[self.names[0]]
        served = self._served.get(name or "")
        if served is None:
            raise Refusal(404, f"there is no gate {clear(str(name))[:100]!r}: ask /gates which there are")
        return served

    def all(self) -> list[Served]:
        """In the order of their names."""
        return [self._served[name] for name in self.names]

    def _serve(self, loaded: Loaded) -> None:
        assert self._workers is not None
        traffic = Traffic(loaded.gate.drift_monitor(confidence=self._settings.drift_confidence))

        def on_batch(decisions: Decisions, seconds: float) -> None:
            self._metrics.observe_batch(loaded.name, decisions, seconds)
            if traffic.add(decisions):
                self._metrics.drift_alarms.labels(loaded.name).inc()
                self._on_alarm(loaded.name, traffic)

        def on_other(decisions: Decisions, seconds: float) -> None:
            """Drift is told by the scores of one effort: what is asked with another is counted alone."""
            self._metrics.observe_batch(loaded.name, decisions, seconds)

        batcher = self._batcher(loaded.gate, loaded.rate, on_batch)
        others = [each.name for each in loaded.gate.efforts_ if each.name != loaded.gate.effort]
        efforts = {name: self._batcher(at_effort(loaded.gate, name), 0.0, on_other) for name in others}
        older = self._served.get(loaded.name)
        self._served[loaded.name] = Served(loaded, batcher, traffic, efforts)
        self._metrics.gate_loads.labels(loaded.name).inc()
        log("gate loaded", gate=loaded.name, version=loaded.facts["version"], replaced=older is not None)
        if older is not None:
            self._leave(older)

    def _batcher(self, gate: Detector, rate: float, on_batch: Callable[[Decisions, float], None]) -> Batcher:
        """A queue for a gate that scores so many inputs a second; 0: nobody knows yet."""
        assert self._workers is not None
        return Batcher(
            lambda inputs: gate.decide(Prepared(inputs)),  # they were checked when they came
            self._workers,
            max_batch=self._settings.max_batch,
            max_delay=self._settings.max_delay_ms / 1000,
            capacity=self._settings.queue,
            rate=rate / self._workers.count,
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


def _fingerprint(folder: Path) -> Fingerprint:
    """Changes whenever a file of the gate does; empty where there is no gate."""
    found = []
    for name in (CONFIG, *OTHERS):
        try:
            about = (folder / name).stat()
        except OSError:
            if name == CONFIG:
                return ()
            found.append((0, 0, 0))  # a gate with a part missing is one to complain about
        else:
            found.append((about.st_mtime_ns, about.st_size, about.st_ino))
    return tuple(found)


def _version(folder: Path) -> str:
    """Which save of the gate this is: the beginning of its digest."""
    return str(json.loads((folder / CONFIG).read_text("utf-8"))["digest"])[:12]
