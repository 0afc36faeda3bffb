"""Scores a million 28×28 images with ``dissensus score`` and records the time and the peak of memory.

python tools/measure_streaming.py [--images 1000000] [--output results/streaming/streaming.json]

The gate is deliberately tiny: what is measured is the way of the data, not the arithmetic of a model.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from dissensus import BayesianVAE, load_sample
from dissensus.evaluation import environment, write_record

NETWORK = {"latent_size": 1, "widths": (1,)}
TINY = {**NETWORK, "draws": 2, "samples": 1, "epochs": 4, "examples": 0, "device": "cpu"}
FEW = 10_000
CHUNK = 10_000

SCORE = """
import sys
from dissensus.cli import app
app(["score", *sys.argv[1:], "--json", "--device", "cpu"], standalone_mode=False)
status = open("/proc/self/status").read().splitlines()
print(next(line.split()[1] for line in status if line.startswith("VmHWM")), file=sys.stderr)
"""


def write_images(path: Path, count: int, known: np.ndarray) -> None:
    """Clothes drawn with replacement, each pixel moved a little, so that no two images are the same."""
    random = np.random.default_rng(0)
    images = np.lib.format.open_memmap(path, "w+", np.uint8, (count, 28, 28))
    for start in range(0, count, CHUNK):
        chosen = known[random.integers(0, len(known), min(CHUNK, count - start))].astype(np.int16)
        moved = chosen + random.integers(-8, 9, chosen.shape, np.int16)
        images[start : start + len(chosen)] = moved.clip(0, 255)
    images.flush()


def score(gate: Path, images: Path, rows: Path) -> dict[str, float]:
    """Scores in a process of its own, whose peak is the system's own count of resident memory."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", SCORE, str(gate), str(images), "-o", str(rows)],
        check=True,
        capture_output=True,
        text=True,
    )
    summary = json.loads(done.stdout)
    with rows.open("rb") as lines:
        written = sum(1 for _ in lines) - 1
    assert written == summary["inputs"]
    return {
        "images": summary["inputs"],
        "input_megabytes": round(images.stat().st_size / 1e6, 1),
        "seconds": round(time.monotonic() - began, 1),
        "peak_megabytes": round(int(done.stderr.split()[-1]) * 1024 / 1e6, 1),
        "flagged": summary["flagged"],
    }


def main() -> None:
    """Writes the record."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--images", type=int, default=1_000_000)
    arguments.add_argument("--output", type=Path, default=Path("results/streaming/streaming.json"))
    chosen = arguments.parse_args()
    known = load_sample()[0].images
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        BayesianVAE(**TINY).fit(known).save(folder / "gate")
        runs = {}
        for name, count in (("few", FEW), ("all", chosen.images)):
            write_images(folder / f"{name}.npy", count, known)
            runs[name] = score(folder / "gate", folder / f"{name}.npy", folder / f"{name}.csv")
            (folder / f"{name}.npy").unlink()
    settings = {name: list(value) if isinstance(value, tuple) else value for name, value in TINY.items()}
    record = {"gate": settings, "false_alarm_rate": 0.05, "runs": runs, "environment": environment()}
    write_record(chosen.output, record)
    sys.stdout.write(json.dumps(runs, indent=1) + "\n")


if __name__ == "__main__":
    main()
