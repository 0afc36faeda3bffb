"""Inputs larger than memory, brought to where they can be read in any order: decoded once, chunk by chunk.

A chunk is a file that is whole or not there, so that a process that was killed while it decoded goes on with
the next one. Pictures become uint8.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.atomic import atomic_path
from dissensus.errors import DataError, not_written
from dissensus.inputs.folders import ImageFolder
from dissensus.inputs.listings import listing_digest
from dissensus.inputs.stored import Stored, StoredFile, checked

__all__ = ["in_chunks", "store_array", "store_file", "store_pictures", "stored_file"]

CHUNK = 1 << 25  # bytes of a chunk


def stored_file(file: StoredFile) -> Stored | None:
    """A ``.npy`` file as it is; None if it has to be decoded, as pictures of floats and rows of integers."""
    pictures = len(file.shape) in (3, 4) and file.dtype == np.uint8
    rows = len(file.shape) == 2 and file.dtype.kind == "f"
    return Stored([file], listing_digest(str(file.path))) if pictures or rows else None


def store_file(file: StoredFile, folder: Path) -> Stored:
    """Return a ``.npy`` file of other numbers as chunks of numbers that have been validated."""
    size = max(1, CHUNK // max(1, int(np.prod(file.shape[1:])) * file.dtype.itemsize))
    digest = listing_digest(str(file.path))
    return in_chunks(folder, digest, file.shape[0], size, lambda start, stop: checked(file.read(start, stop)))


def store_array(array: NDArray[Any], folder: Path) -> Stored:
    """Return an array as chunks of rows that have been validated."""
    size = max(1, CHUNK // max(1, int(np.prod(array.shape[1:])) * array.dtype.itemsize))
    digest = hashlib.sha256(f"{array.shape} {array.dtype}".encode())
    for start in range(0, len(array), size):
        digest.update(np.ascontiguousarray(array[start : start + size]).tobytes())
    return in_chunks(
        folder, digest.hexdigest(), len(array), size, lambda start, stop: checked(array[start:stop])
    )


def store_pictures(pictures: ImageFolder, folder: Path) -> Stored:
    """A folder of pictures as chunks of uint8; with ``on_error="skip"`` without those that cannot be read."""
    shape = pictures.shape
    digest = hashlib.sha256(f"{shape} {pictures.on_error}".encode())
    for path in pictures.paths:
        digest.update(f"{path}\0{path.stat().st_size}\0".encode("utf-8", "surrogateescape"))
    size = max(1, CHUNK // int(np.prod(shape)))
    return in_chunks(folder, digest.hexdigest(), len(pictures), size, pictures.run)


def in_chunks(
    folder: Path, digest: str, total: int, size: int, read: Callable[[int, int], NDArray[Any]]
) -> Stored:
    """Chunks of ``size`` inputs, each a file; those that are there are not made again.

    Chunks of another size are others: how large they are may depend on the memory there is.
    """
    place = folder / f"{digest[:16]}-{size}"
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(f"the folder for decoded inputs {place}", error) from error
    files = []
    for number, start in enumerate(range(0, total, size)):
        path = place / f"chunk-{number:06d}.npy"
        if not path.exists():
            chunk = read(start, min(start + size, total))
            try:
                with atomic_path(path) as temporary, temporary.open("wb") as file:
                    np.save(file, chunk)
            except OSError as error:
                raise not_written(path, error) from error
        file_ = StoredFile.open(path)
        assert file_ is not None
        if file_.shape[0]:
            files.append(file_)
    if not files:
        raise DataError("X holds no inputs that can be read")
    return Stored(files, digest)
