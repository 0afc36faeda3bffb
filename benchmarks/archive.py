"""A run's arrays and what is known about them, as one ``.npz`` that is whole or not there at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.atomic import atomic_path
from dissensus.errors import DataError

__all__ = ["load_archive", "save_archive"]


def save_archive(path: Path, arrays: Mapping[str, NDArray[Any]], info: Mapping[str, Any]) -> None:
    """Writes the arrays, none of them called ``info``, and the plain values ``info``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = np.frombuffer(json.dumps(info).encode(), dtype=np.uint8)
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, info=text, **arrays)  # type: ignore[arg-type]  # its third parameter is a bool by name


def load_archive(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The inverse of :func:`save_archive`."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        info: dict[str, Any] = json.loads(arrays.pop("info").tobytes())
    except Exception as error:  # on damaged bytes the parsers raise almost anything
        raise DataError(f"{path} is not a readable matrix ({error}); delete it and measure again") from error
    return arrays, info
