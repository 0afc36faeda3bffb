"""What is mutated: good gates and good input files."""

from __future__ import annotations

import gzip
import io
import struct
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["FILES", "GATES", "Originals"]

GATES = ("pictures", "rows", "table")
FILES = ("config.json", "draws.safetensors", "calibration.safetensors", "diagnostics.json")
TABLE = "length,colour,weight\n" + "".join(
    f"{i * 7 % 11 / 2},{('red', 'green', 'blue')[i % 3]},{'' if i % 5 == 0 else i * i % 13}\n"
    for i in range(40)
)


class Originals:
    """Three small gates and one file of every format, with the decisions that are right for them."""

    def __init__(self, folder: Path) -> None:
        from dissensus import BayesianVAE

        self.folder = folder
        settings: dict[str, Any] = {
            "epochs": 2,
            "draws": 2,
            "chains": 1,
            "samples": 2,
            "latent_size": 1,
            "examples": 4,
        }
        self.pictures = np.random.default_rng(0).integers(0, 256, (40, 8, 8), dtype=np.uint8)
        self.rows = np.random.default_rng(1).normal(size=(40, 3))
        self.gates = {}
        (folder / "table.csv").write_text(TABLE, "utf-8")
        for name, data, others in (
            ("pictures", self.pictures, {"widths": (1,), "statistic": "kl"}),
            ("rows", self.rows, {"widths": (3,), "statistic": "typicality", "variant": 2}),
            ("table", folder / "table.csv", {"widths": (3,), "statistic": "std"}),
        ):
            gate = BayesianVAE(**settings, **others, false_alarm_rate=0.2, device="cpu").fit(data)
            gate.save(folder / name)
            self.gates[name] = BayesianVAE.load(folder / name, device="cpu")
        self.asked = {"pictures": self.pictures[:3], "rows": self.rows[:3], "table": folder / "table.csv"}
        self.right = {name: self.gates[name].decide(asked) for name, asked in self.asked.items()}
        self.inputs = self._write_inputs(folder / "inputs")

    def _write_inputs(self, folder: Path) -> dict[str, tuple[str, bytes]]:
        """File name → the gate it is for and its bytes."""
        from PIL import Image

        folder.mkdir()
        some = self.pictures[:4]
        found: dict[str, tuple[str, bytes]] = {}
        for suffix in ("png", "jpg", "gif", "bmp", "tif", "webp", "ppm", "tga", "ico"):
            buffer = io.BytesIO()
            kind = {"jpg": "JPEG", "tif": "TIFF"}.get(suffix, suffix.upper())
            Image.fromarray(some[0]).save(buffer, kind)
            found[f"one.{suffix}"] = ("pictures", buffer.getvalue())
        for name, array in (("pictures", some), ("rows", self.rows[:4])):
            buffer = io.BytesIO()
            np.save(buffer, array)
            found[f"{name}.npy"] = (name, buffer.getvalue())
            for compressed, save in (("", np.savez), ("-compressed", np.savez_compressed)):
                buffer = io.BytesIO()
                save(buffer, images=array)
                found[f"{name}{compressed}.npz"] = (name, buffer.getvalue())
        idx = struct.pack(">4B3I", 0, 0, 8, 3, *some.shape) + some.tobytes()
        found["some.idx"] = ("pictures", idx)
        found["some.gz"] = ("pictures", gzip.compress(idx, mtime=0))
        found["some.bin"] = ("pictures", bytes([3]) + bytes(range(256)) * 12)
        from scipy.io import savemat

        digits = np.zeros((32, 32, 3, 2), np.uint8)
        for name, packed in (("some.mat", False), ("some-compressed.mat", True)):
            buffer = io.BytesIO()
            content = {"X": digits, "y": np.array([[1], [10]])}
            savemat(buffer, content, do_compression=packed)  # type: ignore[arg-type]  # a stream will do
            found[name] = ("pictures", buffer.getvalue())
        found["table.csv"] = ("table", TABLE.encode())
        return found
