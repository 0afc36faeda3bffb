"""The cropped digits of SVHN: a MATLAB file with X (32, 32, 3, N) and y (N, 1), where 10 stands for 0."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError, brief
from dissensus.inputs.unpacking import HARMLESS, HIGHEST_RATIO, refuse_bomb

__all__ = ["read_svhn"]

_HEADER, _PACKED, _PIECE = 128, 15, 1 << 20  # of MATLAB 5 files: text, then elements of a kind and a size


def read_svhn(path: str | Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Read images (N, 32, 32, 3) and labels (N,) in 0..9 of ``train_32x32.mat`` or its sisters."""
    from scipy.io import loadmat

    try:
        refuse_bomb(Path(path), _unpacked_size(Path(path)))
        content = loadmat(str(path), variable_names=["X", "y"])
    except DataError:
        raise
    except Exception as error:  # on damaged bytes the parser raises almost anything
        raise DataError(
            f"{path} cannot be read as a MATLAB file ({brief(error)}); fetch it again."
        ) from error
    if "X" not in content or "y" not in content:
        raise DataError(f"{path} is not an SVHN file: it must hold the variables X and y.")
    images, labels = np.asarray(content["X"]), np.asarray(content["y"]).ravel()
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[:3] != (32, 32, 3):
        raise DataError(
            f"{path} is not an SVHN file: X is {images.dtype} {images.shape}, expected uint8 (32, 32, 3, N)."
        )
    if len(labels) != images.shape[3] or not np.isin(labels, np.arange(1, 11)).all():
        raise DataError(f"{path} is not an SVHN file: y must hold one label from 1 to 10 for each image.")
    return np.ascontiguousarray(images.transpose(3, 0, 1, 2)), (labels % 10).astype(np.uint8)


def _unpacked_size(path: Path) -> int:
    """How many bytes the file's packed elements hold, or how many were found when it was plainly too many."""
    found, enough = 0, HIGHEST_RATIO * path.stat().st_size + _PIECE
    with path.open("rb") as stream:
        stream.seek(_HEADER)
        while len(tag := stream.read(8)) == 8:
            kind, size = struct.unpack("<II", tag)
            if kind != _PACKED:
                stream.seek(size, 1)
                continue
            unpacker, packed = zlib.decompressobj(), stream.read(size)
            while packed and not unpacker.eof and found <= max(enough, HARMLESS):
                found += len(unpacker.decompress(packed, _PIECE))
                packed = unpacker.unconsumed_tail
    return found
