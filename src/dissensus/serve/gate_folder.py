"""A folder of gates on disk: what is there, which save of it, and how it is read."""

from __future__ import annotations

import copy
import json
import re
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dissensus.detector import Detector
from dissensus.detector.confirming import Confirmation
from dissensus.detector.own_names import OwnCode, import_own
from dissensus.errors import ArtifactError, DissensusError, brief
from dissensus.inputs import Prepared
from dissensus.persistence import CONFIG, OTHERS, claim_folder
from dissensus.serve.batching import GRAIN
from dissensus.serve.facts import gate_columns, gate_facts, gate_kind

__all__ = ["NAME", "Fingerprint", "GateFolder", "Loaded"]

MOST_LIKELIHOODS = 1 << 17  # of one input: ten seconds of a small convolutional network on one core
_WORD = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
NAME = re.compile(rf"{_WORD}(/{_WORD})?")
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
    """A folder that is a gate, or a folder of gates and of folders of a gate's versions.

    A gate is called by its folder's name, or its link's; one of several versions ``gate/version``.
    """

    def __init__(self, path: Path, *, device: str = "cpu", own: OwnCode | None = None) -> None:
        self.path, self.device, self.own = path, device, own or import_own()
        self.single = (path / CONFIG).is_file()
        if not path.is_dir():
            raise ArtifactError(f"{path} is no folder: name one that `dissensus fit` saved, or one of such")

    def scan(self) -> dict[str, Fingerprint]:
        """What identifies each gate that is there now, by name."""
        if self.single:
            return {self.own_name: found} if (found := _fingerprint(self.path)) else {}
        found_by_name: dict[str, Fingerprint] = {}
        for folder in _below(self.path):
            if found := _fingerprint(folder):
                found_by_name[folder.name] = found
                continue
            for version in _below(folder):
                if found := _fingerprint(version):
                    found_by_name[f"{folder.name}/{version.name}"] = found
        return dict(sorted(found_by_name.items()))

    def load(self, name: str, fingerprint: Fingerprint) -> Loaded:
        """Reads a gate; a broken one is an ArtifactError that names it and no path of this machine."""
        folder = self._at(name)
        try:
            if NAME.fullmatch(name) is None:
                raise ArtifactError("its name must be of letters, digits, dots, dashes and underscores")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what they would say is among the facts
                gate = Detector.load(folder, device=self.device, **self.own)
            if gate.preprocessor_.kind == "objects":
                raise ArtifactError(
                    "its inputs cannot be sent in a request: fit it on pictures, rows or a table"
                )
            _check_cost(gate)
            facts = gate_facts(gate, name, _version(folder))
            rate = _tried(gate)
        except (DissensusError, OSError, ValueError) as error:
            raise ArtifactError(f"gate {name} cannot be loaded: {self.words_of(error, name)}") from error
        return Loaded(name, gate, fingerprint, facts, gate_kind(gate), gate_columns(gate), rate)

    def confirm(
        self, loaded: Loaded, inputs: Prepared, *, normal: bool, audited: float
    ) -> Confirmation | None:
        """Tell a gate what a person says of inputs, and save it; None if another save has replaced it.

        ``loaded`` itself stays as it is. Raises what :func:`claim_folder`, ``confirm`` and ``save`` raise.
        """
        folder, gate = self._at(loaded.name), copy.copy(loaded.gate)
        with claim_folder(folder):
            if _fingerprint(folder) != loaded.fingerprint:
                return None
            done = gate.confirm(inputs, normal=normal, audited=audited)
            gate.save(folder)
        return done

    def words_of(self, error: Exception, name: str) -> str:
        """What an error says, with no path of this machine."""
        folder = self._at(name)
        return brief(error).replace(f"{folder}/", "").replace(str(folder), "it")

    def _at(self, name: str) -> Path:
        return self.path if self.single else self.path / name

    @property
    def own_name(self) -> str:
        """What a gate is called that is this folder itself."""
        name = self.path.absolute().name  # not what a link leads to
        return name if NAME.fullmatch(name) else "gate"


def _below(folder: Path) -> list[Path]:
    """The folders in a folder, but for those with a dot in front, which are being written."""
    try:
        return [one for one in folder.iterdir() if not one.name.startswith(".") and one.is_dir()]
    except OSError:
        return []


def _check_cost(gate: Detector) -> None:
    """Refuses a gate that would take many seconds for each input, before it is tried."""
    samples = gate.learnt_.samples if gate.learnt_.model.noise_size else 1
    if len(gate.draws_) * samples > MOST_LIKELIHOODS:
        raise ArtifactError(
            f"it takes {len(gate.draws_)} draws × {samples} samples of each input, and {MOST_LIKELIHOODS} in "
            "all are the most that are served: fit it with fewer"
        )


def _tried(gate: Detector) -> float:
    """Inputs a second of a gate that scores blank ones: so it is ready, and its queue knows its speed."""
    blank = Prepared(gate.preprocessor_.blank(GRAIN))
    gate.decide(blank)  # the first one makes what all later ones use
    began = time.perf_counter()
    gate.decide(blank)
    return len(blank) / max(time.perf_counter() - began, 1e-6)


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
