"""NumPy's own files, read without ever unpickling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError, brief
from dissensus.inputs.unpacking import refuse_bomb

__all__ = ["read_array"]

_USUAL_KEYS = ("images", "x", "X", "data")


def read_array(path: str | Path, *, mapped: bool = False) -> NDArray[Any]:
    """Return the array of a ``.npy`` file, or of a ``.npz`` file with one array or a usual name.

    The usual names are ``images``, ``x``, ``X`` and ``data``, tried in this order. With ``mapped`` a ``.npy``
    file stays on disk and its rows are read when they are asked for.
    """
    path = Path(path)
    try:
        with path.open("rb") as stream:
            zipped = stream.read(2) == b"PK"
        if zipped:
            return _from_npz(path)
        return _from_npy(path) if mapped else np.array(_from_npy(path))
    except DataError:
        raise
    except Exception as error:  # on damaged bytes the parsers raise almost anything
        raise DataError(
            f"{path} cannot be read as a NumPy file ({brief(error)}); write it again with numpy.save, "
            "from numbers and not from Python objects."
        ) from error


def _from_npy(path: Path) -> NDArray[Any]:
    with path.open("rb") as stream:
        if stream.read(6) != b"\x93NUMPY":
            raise DataError(f"{path} is not a .npy file; write it with numpy.save.")
    # A memory map compares the header's claim with the file's length before any memory is taken.
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array


def _from_npz(path: Path) -> NDArray[Any]:
    # NumPy would leave a file of its own open when the archive is damaged.
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        refuse_bomb(path, sum(member.file_size for member in archive.zip.infolist()))
        keys = list(archive.files)
        key = keys[0] if len(keys) == 1 else next((usual for usual in _USUAL_KEYS if usual in keys), None)
        if key is None:
            raise DataError(
                f"{path} holds {', '.join(keys) or 'no arrays'}; save the inputs alone or under the "
                "name 'images'."
            )
        array: NDArray[Any] = archive[key]
        return array
