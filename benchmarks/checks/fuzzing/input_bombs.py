"""Cases with small input files that unpack to gigabytes."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.checks.fuzzing.asking import ask_file
from benchmarks.checks.fuzzing.image_formats import npy_header, png
from benchmarks.checks.fuzzing.limits import off_the_clock
from benchmarks.checks.fuzzing.originals import Originals

__all__ = ["input_bombs"]


def input_bombs(originals: Originals, rng: np.random.Generator, work: Path) -> str:
    """Small files that unpack to gigabytes, as they promise."""
    kind, count = int(rng.integers(5)), 3 << 30
    if kind == 0:
        path = work / "bomb.gz"
        path.write_bytes(bomb_zlib(struct.pack(">4B3I", 0, 0, 8, 3, count // 64, 8, 8), count, wbits=31))
    elif kind == 1:
        path = work / "bomb.npz"
        path.write_bytes(bomb_zip(npy_header((count // 64, 8, 8)), count))
    elif kind == 2:
        path = work / "bomb.png"
        path.write_bytes(png(1 << 15, 1 << 15, bomb_zlib(b"", (1 << 30) + (1 << 15)), packed=True))
    elif kind == 3:
        path = work / "bomb.mat"
        path.write_bytes(mat_bomb(count))
    else:
        path = work / "bomb.gif"
        path.write_bytes(b"GIF89a" + struct.pack("<HHBBB", 65535, 65535, 0x80, 0, 0) + bytes(6) + b";")
    return ask_file(originals, "pictures", path)


@cache
def bomb_zlib(head: bytes, count: int, wbits: int = 15) -> bytes:
    """``head`` and ``count`` zeros, packed; made once a process and off the clock: it takes seconds."""
    with off_the_clock():
        packer = zlib.compressobj(1, zlib.DEFLATED, wbits)
        zeros = bytes(1 << 20)
        parts = [packer.compress(head), *(packer.compress(zeros) for _ in range(count >> 20))]
        parts += [packer.compress(bytes(count & ((1 << 20) - 1))), packer.flush()]
    return b"".join(parts)


@cache
def bomb_zip(head: bytes, count: int) -> bytes:
    """The same as the one member of an archive."""
    buffer = io.BytesIO()
    with (
        off_the_clock(),
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("images.npy", "w", force_zip64=True) as member,
    ):
        member.write(head)
        for _ in range(count >> 20):
            member.write(bytes(1 << 20))
    return buffer.getvalue()


def mat_bomb(count: int) -> bytes:
    """A MATLAB file whose X holds ``count`` bytes."""
    images = count // (32 * 32 * 3)
    size = images * 32 * 32 * 3
    flags = struct.pack("<IIII", 6, 8, 9, 0)
    shape = struct.pack("<II4i", 5, 16, 32, 32, 3, images)
    name = struct.pack("<HH4s", 1, 1, b"X")
    inner = flags + shape + name + struct.pack("<II", 2, size)
    head = struct.pack("<II", 14, len(inner) + size) + inner
    packed = bomb_zlib(head, size)
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + struct.pack("<II", 15, len(packed)) + packed
