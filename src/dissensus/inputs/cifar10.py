"""CIFAR-10's binary version: records of one label byte and 3 × 32 × 32 pixel bytes, channel by channel."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError

__all__ = ["read_cifar10"]

_RECORD = 1 + 3 * 32 * 32


def read_cifar10(
    paths: str | Path | Iterable[str | Path],
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Read images (N, 32, 32, 3) and labels (N,) of one ``.bin`` file, or of several in a row."""
    files = [paths] if isinstance(paths, str | Path) else list(paths)
    if not files:
        raise DataError("read_cifar10 needs at least one .bin file.")
    records = np.concatenate([_records(Path(file)) for file in files])
    images = records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(images), records[:, 0].copy()


def _records(path: Path) -> NDArray[np.uint8]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error}).") from error
    if not content or len(content) % _RECORD:
        raise DataError(
            f"{path} is not a whole CIFAR-10 binary file: {len(content)} bytes are not a positive multiple "
            f"of {_RECORD}; fetch it again."
        )
    records = np.frombuffer(content, np.uint8).reshape(-1, _RECORD)
    if records[:, 0].max() > 9:
        raise DataError(f"{path} is not a CIFAR-10 binary file: it holds a label above 9.")
    return records
