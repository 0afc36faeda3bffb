"""Pictures that are small as files and would take minutes, or gigabytes, to decode: what tests forge."""

from __future__ import annotations

import io
import struct
import zlib

from PIL import Image

__all__ = ["jpeg_with_scans", "png_chunk", "png_with"]


def jpeg_with_scans(side: int, more: int) -> bytes:
    """Return a flat progressive JPEG (side × side) whose last scan is repeated ``more`` times."""
    buffer = io.BytesIO()
    Image.new("L", (side, side), 128).save(buffer, "JPEG", progressive=True)
    content = buffer.getvalue()
    last = content[content.rindex(b"\xff\xda") : -2]
    return content[:-2] + last * more + b"\xff\xd9"


def png_chunk(kind: bytes, data: bytes) -> bytes:
    """Return one chunk of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_with(side: int, *chunks: tuple[bytes, bytes]) -> bytes:
    """Return a flat PNG (side × side) with these chunks in front of its pixels."""
    buffer = io.BytesIO()
    Image.new("L", (side, side), 128).save(buffer, "PNG")
    content = buffer.getvalue()
    return content[:33] + b"".join(png_chunk(*chunk) for chunk in chunks) + content[33:]
