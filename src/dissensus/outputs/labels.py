"""What the rows of one shard are a part of, so that parts of different wholes are never merged."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["LABEL", "NUMBERED", "DriftStart", "PartLabel"]

LABEL = b"dissensus.part"
"""The name of the label among the remarks of a Parquet file."""
NUMBERED = "numbered"
"""The column of a part that says whether an input's name is a number, which JSON lines tell from a text."""
VERSION = 1


@dataclass(frozen=True)
class DriftStart:
    """What a drift monitor begins with."""

    seed: int
    calibration: str
    """Base64 of the gate's calibration scores, little-endian float64."""

    @classmethod
    def of(cls, scores: NDArray[np.float64], seed: int) -> Self:
        """The start with these calibration scores."""
        return cls(seed, base64.b64encode(scores.astype("<f8").tobytes()).decode())

    def scores(self) -> NDArray[np.float64]:
        """The calibration scores."""
        return np.frombuffer(base64.b64decode(self.calibration), "<f8").astype(np.float64)


@dataclass(frozen=True)
class PartLabel:
    """Which rows of which scoring a part holds, and what it takes to decide about all parts together."""

    shard: int
    """From 0."""
    shards: int
    inputs: int
    """N, of all shards."""
    gate: str
    """The gate's digest."""
    listing: str
    """The digest of what the inputs are called and how large they are."""
    options: dict[str, Any]
    """How the inputs were read: the size of pictures, the column of ids, and what absent columns count as."""
    columns: Sequence[str]
    statistic: str
    false_alarm_rate: float
    threshold: float | None
    """None where it is infinite."""
    calibration_inputs: int
    drift: DriftStart | None = None
    """In the first shard alone: what it takes to watch all inputs for drift."""

    def belongs_to(self, other: PartLabel) -> bool:
        """Whether both are parts of one scoring."""
        return replace(self, shard=other.shard, drift=other.drift) == other

    def to_json(self) -> str:
        """One line of text."""
        return json.dumps({"version": VERSION, **asdict(self)}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The inverse of :meth:`to_json`; raises ValueError on anything else."""
        found = json.loads(text)
        if not isinstance(found, dict) or found.pop("version", None) != VERSION:
            raise ValueError("it is of another version")
        if set(found) != {field.name for field in fields(cls)}:
            raise ValueError("it lacks a value, or has one that is not known")
        start = found.pop("drift")
        return cls(**found, drift=None if start is None else DriftStart(**start))
