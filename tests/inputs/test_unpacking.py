"""Files that unpack to far more than they look are refused before the memory is taken."""

import gzip
import io
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest

from dissensus.errors import DataError
from dissensus.inputs import open_inputs

SIZE = 96 << 20


def idx(path):
    path = path / "bomb.gz"
    head = struct.pack(">4B3I", 0, 0, 8, 3, SIZE // 64, 8, 8)
    path.write_bytes(gzip.compress(head + bytes(SIZE), compresslevel=1))
    return path


def npz(path):
    path = path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        buffer = io.BytesIO()
        np.save(buffer, np.zeros((SIZE // 64, 8, 8), np.uint8))
        archive.writestr("images.npy", buffer.getvalue())
    return path


def mat(path):
    path = path / "bomb.mat"
    images = SIZE // 3072
    shape = struct.pack("<IIII", 6, 8, 9, 0) + struct.pack("<II4i", 5, 16, 32, 32, 3, images)
    inner = shape + struct.pack("<HH4s", 1, 1, b"X") + struct.pack("<II", 2, images * 3072)
    element = struct.pack("<II", 14, len(inner) + images * 3072) + inner + bytes(images * 3072)
    packed = zlib.compress(element, 1)
    head = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
    path.write_bytes(head + struct.pack("<II", 15, len(packed)) + packed)
    return path


@pytest.mark.parametrize("make", [idx, npz, mat])
def test_a_bomb_is_refused_in_little_memory(make, tmp_path):
    path = make(tmp_path)
    assert path.stat().st_size < SIZE / 50
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"is refused: it unpacks to .* MiB or more"):
            open_inputs(path)
        assert tracemalloc.get_traced_memory()[1] < 1.5 * (1 << 26) + (1 << 24)
    finally:
        tracemalloc.stop()


def test_what_packs_well_but_is_small_is_read(tmp_path):
    np.savez_compressed(tmp_path / "black.npz", images=np.zeros((1000, 28, 28), np.uint8))
    assert open_inputs(tmp_path / "black.npz").shape == (1000, 28, 28)
