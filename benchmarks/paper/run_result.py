"""What is left of a run, in memory and in the cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.archive import load_archive, save_archive
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
    arrays = {
        "test": result.test,
        "inliers": np.asarray(result.inliers),
        "validation": result.validation,
        "typical": result.typical,
        "pictured": result.pictured,
        "pictures": result.pictures,
        "reconstructions": result.reconstructions,
    }
    save_archive(path, arrays, result.info)


def load_result(path: Path) -> RunResult:
    """The inverse of :func:`save_result`."""
    arrays, info = load_archive(path)
    try:
        return RunResult(
            test=arrays["test"],
            inliers=int(arrays["inliers"]),
            validation=arrays["validation"],
            typical=arrays["typical"],
            pictured=arrays["pictured"],
            pictures=arrays["pictures"],
            reconstructions=arrays["reconstructions"],
            info=info,
        )
    except (KeyError, TypeError) as error:
        raise DataError(f"{path} is not a run's matrix ({error}); delete it and measure again") from error
