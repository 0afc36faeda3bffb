"""What is left of a run, in memory and in the cache."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.atomic import atomic_path
from dissensus.errors import DataError

__all__ = ["RunResult", "load_result", "save_result"]


@dataclass(frozen=True, eq=False)
class RunResult:
    """What is left of a run: log-likelihoods in nats, what the sampler said, and a few pictures."""

    test: NDArray[np.float64]
    """(M, N): the in-distribution test inputs, then the others."""
    inliers: int
    """How many columns of ``test`` are in-distribution."""
    validation: NDArray[np.float64]
    """(M, n)"""
    typical: NDArray[np.float64]
    """Training inputs (M, n)."""
    pictured: NDArray[np.int64]
    """Columns of ``test`` of which pictures are kept (n,), by disagreement; inliers first. May be empty."""
    pictures: NDArray[np.uint8]
    """(n, C, H, W)"""
    reconstructions: NDArray[np.uint8]
    """Of the pictures under some draws (m, n, C, H, W)."""
    info: Mapping[str, Any]
    """Plain values: settings, diagnostics, seconds."""


def save_result(path: Path, result: RunResult) -> None:
    """Writes the result as one ``.npz``, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {
        "test": result.test,
        "inliers": np.int64(result.inliers),
        "validation": result.validation,
        "typical": result.typical,
        "pictured": result.pictured,
        "pictures": result.pictures,
        "reconstructions": result.reconstructions,
        "info": np.frombuffer(json.dumps(result.info).encode(), dtype=np.uint8),
    }
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]  # its third parameter is a bool by name


def load_result(path: Path) -> RunResult:
    """The inverse of :func:`save_result`."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        return RunResult(
            test=arrays["test"],
            inliers=int(arrays["inliers"]),
            validation=arrays["validation"],
            typical=arrays["typical"],
            pictured=arrays["pictured"],
            pictures=arrays["pictures"],
            reconstructions=arrays["reconstructions"],
            info=json.loads(arrays["info"].tobytes()),
        )
    except Exception as error:  # on damaged bytes the parsers raise almost anything
        raise DataError(f"{path} is not a readable matrix ({error}); delete it and measure again") from error
