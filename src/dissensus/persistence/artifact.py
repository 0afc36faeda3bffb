"""The saved detector: a folder of JSON and safetensors that never executes anything.

``config.json`` says what the detector is, which versions wrote it, and the digests of itself and of every
other file; ``draws.safetensors`` holds the weights (of optimised encoders, one a chain),
``calibration.safetensors`` what the scores and decisions learnt, ``diagnostics.json`` the sampler's health.
``README.md`` is for people: it is never read here, and may be edited.

The digests find accidents. Whoever writes a gate can also write its digests, so everything in it is taken for
hostile: sizes are checked before memory is taken, and nothing in it is ever executed.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file as load_arrays
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import load_file as load_tensors
from safetensors.torch import save_file as save_tensors

from dissensus._version import __version__
from dissensus.atomic import atomic_folder, present
from dissensus.errors import ArtifactError, brief, not_written
from dissensus.lock import Claim
from dissensus.posterior import Diagnostics, PartDraws, WeightDraws

__all__ = ["Artifact", "claim_folder", "is_replaceable", "read_artifact", "write_artifact"]

FORMAT = "dissensus-gate"
FORMAT_VERSION = 1
CONFIG, DRAWS, CALIBRATION, DIAGNOSTICS = (
    "config.json",
    "draws.safetensors",
    "calibration.safetensors",
    "diagnostics.json",
)
OTHERS = (DRAWS, CALIBRATION, DIAGNOSTICS)
CARD = "README.md"
PATIENCE = 30.0  # seconds to wait for another save into the same folder; none takes as long
LARGEST_JSON = 1 << 26  # bytes; the reports of 100,000 epochs take half of it


@dataclass(frozen=True)
class Artifact:
    """What is saved of a detector."""

    config: Mapping[str, Any]
    """JSON values only."""
    draws: WeightDraws
    calibration: Mapping[str, NDArray[Any]]
    card: str = ""
    """Markdown for people; what is read from a folder has none."""


def write_artifact(folder: str | Path, artifact: Artifact) -> None:
    """Writes the folder as a whole: whatever stood there before is replaced at once, or not at all."""
    folder = Path(folder)
    try:
        with claim_folder(folder, patience=PATIENCE):
            if present(folder).exists() and not is_replaceable(present(folder)):
                raise ArtifactError(f"{folder} exists and is no saved detector: choose another name")
            with atomic_folder(folder) as new:
                _write_files(new, artifact)
    except (OSError, SafetensorError) as error:
        raise not_written(folder, error) from error


def claim_folder(folder: str | Path, *, patience: float = 0.0) -> Claim:
    """Claims the folder of a saved detector, and makes the folders above it: nobody else writes to it now.

    The lock stands beside the folder, which is replaced as a whole.
    """
    Path(os.path.realpath(folder)).parent.mkdir(parents=True, exist_ok=True)
    return Claim(folder, patience=patience)


def read_artifact(folder: str | Path) -> Artifact:
    """Reads what :func:`write_artifact` wrote, after checking every file against its digest."""
    folder = Path(folder)
    config = _read_config(folder)
    while True:
        # Replaced by another process between two files? Then the new one is as good, but not half of each.
        try:
            found = _read_files(folder, config)
        except ArtifactError:
            if (newer := _read_config(folder)) == config:
                raise
        else:
            if (newer := _read_config(folder)) == config:
                return found
        config = newer


def _read_files(folder: Path, config: Mapping[str, Any]) -> Artifact:
    there = present(folder)
    try:
        for name in OTHERS:
            _check_file(there / name, config["files"][name])
        tensors = load_tensors(there / DRAWS, device="cpu")
        calibration = load_arrays(there / CALIBRATION)
        diagnostics = Diagnostics.from_dict(_read_json(there / DIAGNOSTICS))
        draws = _unpack_draws(tensors, diagnostics)
    except ArtifactError:
        raise
    except Exception as error:  # a file may hold anything, whatever its digest says
        raise ArtifactError(
            f"{folder} does not hold a whole detector ({brief(error)}): save it anew"
        ) from error
    return Artifact(config["detector"], draws, calibration)


def _write_files(folder: Path, artifact: Artifact) -> None:
    save_tensors(_pack_draws(artifact.draws), folder / DRAWS)
    arrays = {name: np.asarray(array, order="C") for name, array in artifact.calibration.items()}
    save_arrays(arrays, folder / CALIBRATION)
    (folder / DIAGNOSTICS).write_text(json.dumps(artifact.draws.diagnostics.to_dict(), indent=1), "utf-8")
    config = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "versions": {
            "dissensus": __version__,
            "torch": torch.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "files": {name: _digest(folder / name) for name in OTHERS},
        "detector": _plain(artifact.config),
    }
    config["digest"] = _own_digest(config)
    (folder / CARD).write_text(artifact.card, "utf-8")
    (folder / CONFIG).write_text(json.dumps(config, indent=2), "utf-8")
    for path in folder.iterdir():
        # safetensors makes private files; whoever may read the configuration may read them all.
        path.chmod((folder / CONFIG).stat().st_mode)


def is_replaceable(folder: Path) -> bool:
    """Whether nothing is lost: an empty folder, or a detector with nothing else in it."""
    if not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir()}
    if not names:
        return True
    try:
        config = _read_json(folder / CONFIG)
    except (OSError, ValueError, RecursionError):
        return False
    return names <= {CONFIG, CARD, *OTHERS} and isinstance(config, dict) and config.get("format") == FORMAT


def _read_config(folder: Path) -> dict[str, Any]:
    path = present(folder) / CONFIG
    if not path.is_file():
        raise ArtifactError(f"{folder} holds no saved detector: there is no {CONFIG} in it")
    try:
        config = _read_json(path)
    except (OSError, ValueError, RecursionError) as error:
        raise ArtifactError(f"{path} cannot be read ({brief(error)}): save the detector anew") from error
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise ArtifactError(f"{path} is not the configuration of a dissensus detector")
    version = config.get("format_version")
    if type(version) is not int or version < 1:
        raise ArtifactError(f"{path} was altered (its format_version is no whole number): save it anew")
    if version > FORMAT_VERSION:
        raise ArtifactError(
            f"{folder} was saved by a newer dissensus (format {version}, this one reads {FORMAT_VERSION}): "
            "upgrade it"
        )
    if config.pop("digest", None) != _own_digest(config):
        raise ArtifactError(f"{path} was altered (its digest differs): save the detector anew")
    files, detector = config.get("files"), config.get("detector")
    if not isinstance(files, dict) or set(files) != set(OTHERS) or not isinstance(detector, dict):
        raise ArtifactError(
            f"{path} lacks a part, or names a file that no detector has: save the detector anew"
        )
    return config


def _read_json(path: Path) -> Any:
    if path.stat().st_size > LARGEST_JSON:
        raise ValueError(f"it is larger than {LARGEST_JSON >> 20} MiB")
    return json.loads(path.read_text("utf-8"))


def _check_file(path: Path, digest: object) -> None:
    if not path.is_file():
        raise ArtifactError(f"{path} is missing: save the detector anew")
    if path.suffix == ".json" and path.stat().st_size > LARGEST_JSON:
        raise ArtifactError(f"{path} is larger than {LARGEST_JSON >> 20} MiB: save the detector anew")
    if _digest(path) != digest:
        raise ArtifactError(
            f"{path} is truncated or was altered (its digest differs): save the detector anew"
        )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _own_digest(config: Mapping[str, Any]) -> str:
    """Of the configuration's meaning: layout and the order of its keys do not count."""
    return hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()


def _plain(values: Mapping[str, Any]) -> Any:
    """The same with NumPy's numbers and arrays as JSON's own."""
    return json.loads(json.dumps(dict(values), default=lambda value: value.tolist()))


def _pack_draws(draws: WeightDraws) -> dict[str, torch.Tensor]:
    """Weights as ``part/name``, and which of them a draw has as ``part_of``, where each has not its own."""
    packed = {"chain": torch.from_numpy(draws.chain), "epoch": torch.from_numpy(draws.epoch)}
    for part, own in draws.parts.items():
        packed |= {f"{part}/{name}": stack.contiguous() for name, stack in own.stacks.items()}
        if not np.array_equal(own.of, np.arange(len(draws))):
            packed[f"{part}_of"] = torch.from_numpy(own.of)
    return packed


def _unpack_draws(tensors: Mapping[str, torch.Tensor], diagnostics: Diagnostics) -> WeightDraws:
    chain, epoch = (tensors[name].numpy() for name in ("chain", "epoch"))
    stacks: dict[str, dict[str, torch.Tensor]] = {}
    for key, tensor in tensors.items():
        part, slash, name = key.partition("/")
        if slash:
            stacks.setdefault(part, {})[name] = tensor
    each_its_own = torch.arange(len(chain))
    parts = {
        part: PartDraws(own, tensors.get(f"{part}_of", each_its_own).numpy()) for part, own in stacks.items()
    }
    return WeightDraws(parts, chain, epoch, diagnostics)
