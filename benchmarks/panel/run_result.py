"""What is left of a run, in memory and in the cache: all that scores are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.archive import load_archive, save_archive
from dissensus.errors import DataError

__all__ = ["PanelResult", "load_result", "save_result"]

_STATISTIC = "statistic/"


@dataclass(frozen=True, eq=False)
class PanelResult:
    """The log-likelihoods and statistics of all sections' images, side by side."""

    matrix: NDArray[np.float64]
    """(M, N) in nats"""
    statistics: Mapping[str, NDArray[np.float64]]
    """(N,) each, by name: :data:`dissensus.models.OBSERVED`, and the images' own without a model."""
    sections: Mapping[str, slice]
    """``fitting``, ``fusing``, ``calibration``, ``inliers``, then the outliers by name."""
    regret: NDArray[np.float64]
    """(N,), NaN where it was not found; empty where it was not asked for."""
    info: Mapping[str, Any]
    """Plain values: settings, diagnostics, seconds."""

    @property
    def outliers(self) -> list[str]:
        """The names of the outlier sets."""
        return list(self.sections)[4:]


def save_result(path: Path, result: PanelResult) -> None:
    """Writes the result as one ``.npz``, whole or not at all."""
    arrays = {"matrix": result.matrix, "regret": result.regret}
    arrays |= {_STATISTIC + name: values for name, values in result.statistics.items()}
    ends = {name: [part.start, part.stop] for name, part in result.sections.items()}
    save_archive(path, arrays, {**result.info, "sections": ends})


def load_result(path: Path) -> PanelResult:
    """The inverse of :func:`save_result`."""
    arrays, info = load_archive(path)
    try:
        return PanelResult(
            matrix=arrays["matrix"],
            statistics={
                name.removeprefix(_STATISTIC): values
                for name, values in arrays.items()
                if name.startswith(_STATISTIC)
            },
            sections={name: slice(*ends) for name, ends in info.pop("sections").items()},
            regret=arrays["regret"],
            info=info,
        )
    except (KeyError, TypeError) as error:
        raise DataError(f"{path} is not a run of the panel ({error}); delete it and measure again") from error
