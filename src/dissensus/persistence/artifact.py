"""The saved detector: a folder of JSON and safetensors that never executes anything.

``config.json`` says what the detector is, which versions wrote it, and the digests of itself and of every
other file; ``draws.safetensors`` holds the weights (of optimised encoders, one a chain),
``calibration.safetensors`` what the scores and decisions learnt, ``diagnostics.json`` the sampler's health.
Chains of a fit in parts have their held-out inputs beside them, in ``.npy`` files. ``README.md`` is for
people: it is never read here, and may be edited.

The digests find accidents. Whoever writes a gate can also write its digests, so everything in it is taken for
hostile: sizes are checked before memory is taken, and nothing in it is ever executed.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import save_file as save_tensors

from dissensus._version import __version__
from dissensus.atomic import atomic_folder, present
from dissensus.errors import ArtifactError, brief, not_written
from dissensus.lock import Claim
from dissensus.persistence.files import (
    CALIBRATION,
    CARD,
    CONFIG,
    CONFIG_LIMITS,
    DIAGNOSTICS,
    DIAGNOSTICS_LIMITS,
    DRAWS,
    FORMAT,
    FORMAT_VERSION,
    HELD_OUT,
    OTHERS,
    digest_of,
    meaning_of,
)
from dissensus.persistence.limits import JSONLimits, check_header, check_json, read_json
from dissensus.persistence.packing import pack_draws
from dissensus.posterior import WeightDraws

__all__ = ["Artifact", "claim_folder", "is_replaceable", "write_artifact"]

PATIENCE = 30.0  # seconds to wait for another save into the same folder; none takes as long


@dataclass(frozen=True)
class Artifact:
    """Everything that is saved of a detector: its configuration, tensors, diagnostics and card."""

    config: Mapping[str, Any]
    """JSON values only."""
    draws: WeightDraws
    calibration: Mapping[str, NDArray[Any]]
    card: str = ""
    """Markdown for people; what is read from a folder has none."""
    beside: Mapping[str, Callable[[Path], object]] = field(default_factory=dict)
    """What writes the files of :data:`HELD_OUT`, by name; what is read from a folder has none."""


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
    try:
        Path(os.path.realpath(folder)).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(folder, error) from error
    return Claim(folder, patience=patience)


def is_replaceable(folder: Path) -> bool:
    """Whether nothing is lost: an empty folder, or a detector with nothing else in it."""
    if not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir()}
    if not names:
        return True
    try:
        config = read_json(folder / CONFIG, CONFIG_LIMITS)
    except (OSError, ValueError, RecursionError):
        return False
    return (
        names <= {CONFIG, CARD, *OTHERS, *HELD_OUT}
        and isinstance(config, dict)
        and config.get("format") == FORMAT
    )


def _write_files(folder: Path, artifact: Artifact) -> None:
    save_tensors(pack_draws(artifact.draws), folder / DRAWS)
    arrays = {name: np.asarray(array, order="C") for name, array in artifact.calibration.items()}
    save_arrays(arrays, folder / CALIBRATION)
    diagnostics = json.dumps(artifact.draws.diagnostics.to_dict(), indent=1)
    _write_json(folder / DIAGNOSTICS, diagnostics, DIAGNOSTICS_LIMITS)
    for name, write in artifact.beside.items():
        write(folder / name)
    config = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "versions": {
            "dissensus": __version__,
            "torch": torch.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        "files": {name: digest_of(folder / name) for name in (*OTHERS, *artifact.beside)},
        "detector": _plain(artifact.config),
    }
    config["digest"] = meaning_of(config)
    (folder / CARD).write_text(artifact.card, "utf-8")
    _write_json(folder / CONFIG, json.dumps(config, indent=2), CONFIG_LIMITS)
    for path in folder.iterdir():
        # safetensors makes private files; whoever may read the configuration may read them all.
        path.chmod((folder / CONFIG).stat().st_mode)
    for name in (DRAWS, CALIBRATION):
        _refuse_unreadable(name, check_header, folder / name)


def _write_json(path: Path, text: str, limits: JSONLimits) -> None:
    _refuse_unreadable(path.name, check_json, text.encode(), limits)
    path.write_text(text, "utf-8")


def _refuse_unreadable(name: str, check: Any, *arguments: Any) -> None:
    """Refuses to replace a gate by one that could not be read."""
    try:
        check(*arguments)
    except ValueError as error:
        raise ArtifactError(
            f"the detector cannot be saved, for its {name} could not be read again ({brief(error)}): fit it "
            "on fewer columns or names, or with a model of fewer parts"
        ) from error


def _plain(values: Mapping[str, Any]) -> Any:
    """The same with NumPy's numbers and arrays as JSON's own."""
    return json.loads(json.dumps(dict(values), default=lambda value: value.tolist()))
