"""A saved detector, read: every file is measured first, then checked against its digest, then parsed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors.numpy import load_file as load_arrays
from safetensors.torch import load_file as load_tensors

from dissensus.atomic import present
from dissensus.errors import ArtifactError, brief
from dissensus.persistence.artifact import Artifact
from dissensus.persistence.files import (
    CALIBRATION,
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
from dissensus.persistence.limits import check_header, check_size, read_json
from dissensus.persistence.packing import unpack_draws
from dissensus.posterior import Diagnostics

__all__ = ["read_artifact"]

PARTS = {"format", "format_version", "versions", "files", "detector"}
"""Of a configuration, beside its digest."""


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
    for name, digest in config["files"].items():
        _check_file(there / name, digest)
    try:
        tensors = load_tensors(there / DRAWS, device="cpu")
        calibration = load_arrays(there / CALIBRATION)
        diagnostics = Diagnostics.from_dict(read_json(there / DIAGNOSTICS, DIAGNOSTICS_LIMITS))
        draws = unpack_draws(tensors, diagnostics)
    except Exception as error:  # a file may hold anything, whatever its digest says
        raise ArtifactError(
            f"{folder} does not hold a whole detector ({brief(error)}): save the gate again"
        ) from error
    return Artifact(config["detector"], draws, calibration)


def _what_is_there(folder: Path) -> str:
    if folder.is_dir():
        return f"there is no {CONFIG} in it"
    there = "it is a file" if folder.exists() else "it does not exist"
    return f"{there}; name the folder that a detector was saved in"


def _read_config(folder: Path) -> dict[str, Any]:
    path = present(folder) / CONFIG
    if not path.is_file():
        raise ArtifactError(f"{folder} holds no saved detector: {_what_is_there(folder)}")
    try:
        config = read_json(path, CONFIG_LIMITS)
    except (OSError, ValueError, RecursionError) as error:
        raise ArtifactError(f"{path} cannot be read ({brief(error)}): save the gate again") from error
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise ArtifactError(
            f"{path} is not the configuration of a detector: name the folder that one was saved in"
        )
    _check_version(folder, config.get("format_version"))
    if config.pop("digest", None) != meaning_of(config):
        raise ArtifactError(f"{path} was altered (its digest differs): save the gate again")
    if set(config) != PARTS:
        wrong = str(min(set(config) ^ PARTS))[:99]
        raise ArtifactError(
            f"{path} lacks a part, or has one that no detector has ({wrong!r}): save the gate again"
        )
    files, detector = config["files"], config["detector"]
    known = (set(OTHERS), {*OTHERS, *HELD_OUT})  # of a gate, and of chains of a fit in parts
    if not isinstance(files, dict) or set(files) not in known or not isinstance(detector, dict):
        raise ArtifactError(f"{path} lacks a part, or names a file that no detector has: save the gate again")
    return config


def _check_version(folder: Path, version: object) -> None:
    if type(version) is not int or version < 1:
        raise ArtifactError(
            f"{folder / CONFIG} was altered (its format_version is no whole number): save the gate again"
        )
    if version < FORMAT_VERSION:
        raise ArtifactError(
            f"{folder} was made by an earlier version of dissensus (format {version}, this one reads "
            f"{FORMAT_VERSION}): fit it again"
        )
    if version > FORMAT_VERSION:
        raise ArtifactError(
            f"{folder} was saved by a newer dissensus (format {version}, this one reads {FORMAT_VERSION}): "
            "upgrade it"
        )


def _check_file(path: Path, digest: object) -> None:
    """Refuses a file that is not there, too large to be parsed, or other than when it was saved."""
    if not path.is_file():
        raise ArtifactError(f"{path} is missing: save the gate again")
    try:
        if path.name == DIAGNOSTICS:
            check_size(path.stat().st_size, DIAGNOSTICS_LIMITS)
        elif path.name not in HELD_OUT:  # whose headers NumPy reads without trusting them
            check_header(path)
        same = digest_of(path) == digest
    except (OSError, ValueError) as error:
        raise ArtifactError(f"{path} cannot be read ({brief(error)}): save the gate again") from error
    if not same:
        raise ArtifactError(f"{path} is truncated or was altered (its digest differs): save the gate again")
