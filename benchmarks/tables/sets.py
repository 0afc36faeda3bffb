"""The tables: which there are, and which rows of one are fitted on and which are asked about.

A table is ``NAME.npz`` with rows X and labels y, 1 for anomalies.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.places import ROOT
from dissensus.errors import DataError, SettingsError
from dissensus.seeding import numpy_stream

__all__ = [
    "CONTAMINATED",
    "KINDS",
    "MOST_SHARE",
    "FloatArray",
    "Parts",
    "contaminated",
    "contaminated_shares",
    "default_folder",
    "find_tables",
    "halves",
    "kind_of",
]

FloatArray: TypeAlias = NDArray[np.float64]

KINDS = ("tables", "embeddings")
EMBEDDED = 500  # columns and more: rows of such a set are embeddings, not measurements
CONTAMINATED = 8  # tables
LEAST_ANOMALIES = 50  # different ones, of a table that is contaminated
LEAST_SHARE, MOST_SHARE = 0.05, 0.10  # of anomalies among the rows that are fitted on


class Parts(NamedTuple):
    """The rows of a table by what they serve."""

    train: FloatArray
    """(n, D), fitted on."""
    normal: FloatArray
    """Asked about; no row is equal to one that was fitted on."""
    strange: FloatArray
    """Anomalies, asked about."""


def default_folder() -> Path:
    """The folder that the variable DISSENSUS_TABLES names, or the one beside the checkout."""
    return Path(os.environ.get("DISSENSUS_TABLES") or ROOT.parent / "shared" / "data" / "tables")


def find_tables(folder: Path) -> list[Path]:
    """All tables of a folder, the largest files first, so that no process is left alone with one."""
    paths = sorted(folder.glob("*.npz"), key=lambda path: (-path.stat().st_size, path.stem))
    if not paths:
        raise SettingsError(f"there are no tables in {folder}: name a folder of them with --tables")
    return paths


def kind_of(columns: int) -> str:
    """What the rows of a set are, one of ``KINDS``.

    >>> kind_of(30), kind_of(512)
    ('tables', 'embeddings')
    """
    return KINDS[columns >= EMBEDDED]


def halves(path: Path, seed: int) -> Parts:
    """Half of the different normal rows to fit on; the other half and all anomalies to ask about."""
    X, y = _read(path)
    normal = np.unique(X[y == 0], axis=0)
    order = numpy_stream(seed, "halves", path.stem).permutation(len(normal))
    half = len(normal) // 2
    return Parts(normal[order[:half]], normal[order[half:]], X[y == 1])


def contaminated(path: Path, seed: int, share: float) -> Parts:
    """The same halves, but ``share`` of the rows to fit on are anomalies, which are not asked about.

    Anomalies that are equal count once, so that none of those fitted on is asked about under another number.
    """
    train, normal, strange = halves(path, seed)
    strange = np.unique(strange, axis=0)
    random = numpy_stream(seed, "contaminated", path.stem)
    order = random.permutation(len(strange))
    mixed = round(share / (1 - share) * len(train))
    rows = np.concatenate([train, strange[order[:mixed]]])
    return Parts(rows[random.permutation(len(rows))], normal, strange[order[mixed:]])


def contaminated_shares(paths: Sequence[Path]) -> Mapping[str, float]:
    """The tables that are measured with contaminated rows to fit on, and with which share of anomalies.

    They are the first eight by name of those that are no embeddings and have at least 50 different anomalies,
    half of which are enough for the largest share. Shares rise evenly, in the order of the names.
    """
    fit = [path.stem for path in sorted(paths, key=lambda path: path.stem) if _enough_anomalies(path)]
    chosen = fit[:CONTAMINATED]
    return dict(zip(chosen, np.linspace(LEAST_SHARE, MOST_SHARE, len(chosen)).round(4).tolist(), strict=True))


def _enough_anomalies(path: Path) -> bool:
    X, y = _read(path)
    if kind_of(X.shape[1]) != "tables":
        return False
    strange, train = (len(np.unique(X[y == label], axis=0)) for label in (1, 0))
    return strange >= LEAST_ANOMALIES and strange // 2 >= MOST_SHARE / (1 - MOST_SHARE) * (train // 2)


def _read(path: Path) -> tuple[FloatArray, NDArray[np.int64]]:
    """Rows and labels."""
    try:
        with np.load(path, allow_pickle=False) as content:
            return content["X"].astype(np.float64), content["y"].astype(np.int64)
    except (OSError, KeyError, ValueError) as error:
        raise DataError(
            f"{path} is not a table ({error}): it needs rows X, and labels y that are 1 for anomalies"
        ) from error
