"""Image files and their headers, written by hand so that they can lie."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np

__all__ = ["npy_header", "png"]


def npy_header(shape: tuple[int, ...]) -> bytes:
    """How a ``.npy`` file of bytes of this shape begins."""
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "|u1", "fortran_order": False, "shape": shape})
    return buffer.getvalue()


def png(width: int, height: int, data: bytes, *, packed: bool = False) -> bytes:
    """A grey picture of eight bits a pixel."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    packed_data = data if packed else zlib.compress(data)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed_data) + chunk(b"IEND", b"")
