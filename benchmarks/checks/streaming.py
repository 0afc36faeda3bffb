"""Time and peak memory of ``dissensus score`` on a million 28×28 images, beside ten thousand.

The gate is deliberately tiny: what is measured is the way of the data, not the arithmetic of a model.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.checks.asked import Asked
from benchmarks.pieces import Found, Piece
from benchmarks.records import Record
from dissensus import BayesianVAE, load_sample

__all__ = ["pieces", "sentences", "write_images"]

TINY: Mapping[str, Any] = {
    "latent_size": 1,
    "widths": (1,),
    "draws": 2,
    "samples": 1,
    "epochs": 4,
    "examples": 0,
    "device": "cpu",
}
SIZES, QUICK = {"few": 10_000, "all": 1_000_000}, {"few": 1000, "all": 3000}
CHUNK = 10_000

SCORE = """
import sys
from dissensus.cli import app
app(["score", *sys.argv[1:], "--json", "--device", "cpu"], standalone_mode=False)
status = open("/proc/self/status").read().splitlines()
print(next(line.split()[1] for line in status if line.startswith("VmHWM")), file=sys.stderr)
"""


def pieces(asked: Asked) -> Iterator[Piece]:
    """Both sizes with one gate."""
    sizes = QUICK if asked.quick else SIZES
    yield Piece("streaming", "images", {"images": sizes, "gate": dict(TINY)}, partial(_measured, sizes))


def sentences(records: list[Record]) -> list[str]:
    """One sentence a size."""
    return [
        f"Streaming: {row['images']} images ({row['input_megabytes']:.0f} MB) were scored in "
        f"{row['seconds']:.0f} s with {row['peak_megabytes']:.0f} MB of memory."
        for record in records
        for row in record.rows
    ]


def _measured(sizes: Mapping[str, int], say: Callable[[str], None]) -> Found:
    known, rows = load_sample()[0].images, []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        BayesianVAE(**TINY).fit(known).save(folder / "gate")
        for name, count in sizes.items():
            say(f"{count} images")
            write_images(folder / "images.npy", count, known)
            rows.append({"run": name, **_score(folder / "gate", folder / "images.npy", folder / "rows.csv")})
            (folder / "images.npy").unlink()
            (folder / "rows.csv").unlink()
    return Found(rows)


def write_images(path: Path, count: int, known: NDArray[np.uint8]) -> None:
    """Clothes drawn with replacement, each pixel moved a little, so that no two images are the same."""
    random = np.random.default_rng(0)
    images = np.lib.format.open_memmap(path, "w+", np.uint8, (count, 28, 28))
    for start in range(0, count, CHUNK):
        chosen = known[random.integers(0, len(known), min(CHUNK, count - start))].astype(np.int16)
        moved = chosen + random.integers(-8, 9, chosen.shape, np.int16)
        images[start : start + len(chosen)] = moved.clip(0, 255)
    images.flush()


def _score(gate: Path, images: Path, rows: Path) -> dict[str, Any]:
    """Scores in a process of its own, whose peak is the system's own count of resident memory."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", SCORE, str(gate), str(images), "-o", str(rows)],
        check=True,
        capture_output=True,
        text=True,
    )
    took = time.monotonic() - began
    summary = json.loads(done.stdout)
    with rows.open("rb") as lines:
        written = sum(1 for _ in lines) - 1
    assert written == summary["inputs"]
    return {
        "images": summary["inputs"],
        "input_megabytes": images.stat().st_size / 1e6,
        "seconds": took,
        "peak_megabytes": int(done.stderr.split()[-1]) * 1024 / 1e6,
        "flagged": summary["flagged"],
    }
