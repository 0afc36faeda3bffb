"""The files of a gate: their names, how large they may be, and their digests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dissensus.persistence.limits import JSONLimits

__all__ = [
    "CALIBRATION",
    "CARD",
    "CONFIG",
    "CONFIG_LIMITS",
    "DIAGNOSTICS",
    "DIAGNOSTICS_LIMITS",
    "DRAWS",
    "FORMAT",
    "FORMAT_VERSION",
    "HELD_OUT",
    "OTHERS",
    "digest_of",
    "meaning_of",
]

FORMAT = "dissensus-gate"
FORMAT_VERSION = 2
CONFIG, DRAWS, CALIBRATION, DIAGNOSTICS = (
    "config.json",
    "draws.safetensors",
    "calibration.safetensors",
    "diagnostics.json",
)
OTHERS = (DRAWS, CALIBRATION, DIAGNOSTICS)
HELD_OUT = ("validation.npy", "calibration.npy", "examples.npy", "coded.npy")
"""Inputs beside chains of a fit in parts, which are no gate yet: files that need not fit into memory."""
CARD = "README.md"

CONFIG_LIMITS = JSONLimits(size=1 << 24, values=1 << 20)
"""A table of a thousand columns, with fifty names each, takes a tenth of it."""
DIAGNOSTICS_LIMITS = JSONLimits(size=1 << 26, values=1 << 22)
"""The reports of 100,000 epochs take half of it."""


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def meaning_of(config: Mapping[str, Any]) -> str:
    """Return a digest of what a configuration says; layout and the order of keys do not count."""
    return hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()
