"""Cases with input files whose headers lie about their size."""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
from pathlib import Path

import numpy as np

from benchmarks.checks.fuzzing.asking import ask_file
from benchmarks.checks.fuzzing.image_formats import npy_header, png
from benchmarks.checks.fuzzing.originals import Originals

__all__ = ["input_sizes"]


def input_sizes(originals: Originals, rng: np.random.Generator, work: Path) -> str:
    """Headers that promise far more than the file holds."""
    kind = int(rng.integers(5))
    huge = [int(n) for n in rng.choice([8, 2**16, 2**20, 2**31 - 1], size=3)]
    if kind == 0:
        path, content = work / "huge.npy", npy_header((huge[0], huge[1], huge[2]))
    elif kind == 1:
        path, buffer = work / "huge.npz", io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("images.npy", npy_header((huge[0], huge[1], huge[2])) + bytes(1000))
        content = buffer.getvalue()
    elif kind == 2:
        path, content = work / "huge.idx", struct.pack(">4B3I", 0, 0, 8, 3, *huge) + bytes(1000)
    elif kind == 3:
        path = work / "huge.gz"
        content = gzip.compress(struct.pack(">4B3I", 0, 0, 8, 3, *huge) + bytes(1000))
    else:
        path = work / "huge.png"
        content = png(min(huge[0], 2**31 - 1), min(huge[1], 2**31 - 1), bytes(1000))
    path.write_bytes(content)
    return ask_file(originals, "pictures", path)
