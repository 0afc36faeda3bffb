"""The IDX format of the MNIST family: a magic number, the sizes, then the values, all big-endian."""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError, brief
from dissensus.inputs.unpacking import refuse_bomb

__all__ = ["read_idx"]

_DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 1 << 20


def read_idx(path: str | Path) -> NDArray[Any]:
    """Return the array in an IDX file, plain or gzip-compressed, whatever its name ends with."""
    path = Path(path)
    try:
        with path.open("rb") as plain:
            compressed = plain.read(2) == _GZIP_MAGIC
            plain.seek(0)
            if not compressed:
                return _read(plain, path)
            with gzip.open(plain, "rb") as unpacked:
                return _read(unpacked, path)
    except DataError:
        raise
    except (OSError, EOFError, MemoryError, ValueError, zlib.error) as error:  # ValueError: no array's shape
        raise DataError(f"{path} cannot be read ({brief(error)}); fetch it again.") from error


def _read(stream: BinaryIO | gzip.GzipFile, path: Path) -> NDArray[Any]:
    magic = stream.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in _DTYPES or magic[3] == 0:
        raise DataError(
            f"{path} is not an IDX file: it starts with {magic!r} instead of an IDX magic number."
        )
    dtype = np.dtype(_DTYPES[magic[2]])
    sizes = stream.read(4 * magic[3])
    if len(sizes) < 4 * magic[3]:
        raise DataError(f"{path} ends inside its header; fetch it again.")
    shape = struct.unpack(f">{magic[3]}I", sizes)
    expected = math.prod(shape) * dtype.itemsize
    # Read in pieces, so that a header that claims terabytes costs no more memory than the file really holds.
    content = bytearray()
    while len(content) <= expected and (piece := stream.read(min(_CHUNK, expected + 1 - len(content)))):
        content += piece
        if isinstance(stream, gzip.GzipFile):
            refuse_bomb(path, len(content))
    if len(content) != expected:
        found = "more" if len(content) > expected else str(len(content))
        raise DataError(
            f"{path} is damaged: its header {shape} promises {expected} bytes of values and it holds "
            f"{found}; fetch it again."
        )
    values = np.frombuffer(content, dtype).reshape(shape)
    return values.astype(dtype.newbyteorder("="), copy=False)
