"""Made the detectors under ``gate-v1`` that every later version has to load and to score alike.

They are kept as they are: those that are there are not made again, and a new format gets a folder of its own
beside them. The fused one is of rows, for the length of a picture's code is up to the version of zlib.
``inputs`` is what they were fitted on and are asked about: whole-number formulas, so that no library's random
numbers matter.
"""

import json
import tempfile
from pathlib import Path

import numpy as np

from dissensus import BayesianVAE

SETTINGS = {"epochs": 3, "draws": 2, "chains": 1, "samples": 4, "latent_size": 1, "false_alarm_rate": 0.2}
GATES = {
    "pictures": {**SETTINGS, "widths": (1,), "statistic": "kl"},
    "rows": {**SETTINGS, "widths": (4,), "statistic": "typicality", "variant": 2},
    "table": {**SETTINGS, "widths": (4,), "statistic": "std", "examples": 0},
    "fused": {**SETTINGS, "widths": (4,), "statistic": "fused", "examples": 0},
}

ASKED = 12


def inputs(kind, scratch):
    """An array, or the path of a table that is written to ``scratch``."""
    if kind == "table":
        colours = ("red", "green", "blue")
        lines = (f"{7 * i % 11 / 2},{colours[i % 3]},{i * i % 13 if i % 5 else ''}" for i in range(40))
        (scratch / "table.csv").write_text("\n".join(["length,colour,weight", *lines]), "utf-8")
        return scratch / "table.csv"
    if kind in ("rows", "fused"):
        row, column = np.mgrid[: 400 if kind == "fused" else 40, :3]
        return (7 * row + 3 * (row % 5) * column**2) % 11 / 2
    picture, y, x = np.mgrid[:40, :8, :8]
    return ((37 * picture + 11 * x * y + 5 * x) % 256).astype(np.uint8)


def answers(gate, asked):
    """What is compared, of the first few inputs."""
    return {
        "log_likelihoods": gate.log_likelihoods(asked).values[:, :ASKED].tolist(),
        "scores": gate.score_samples(asked)[:ASKED].tolist(),
        "p_values": gate.p_values(asked)[:ASKED].tolist(),
    }


def main(folder):
    for kind, settings in GATES.items():
        if (folder / kind).exists():
            continue
        with tempfile.TemporaryDirectory() as scratch:
            asked = inputs(kind, Path(scratch))
            gate = BayesianVAE(**settings, device="cpu").fit(asked)
            gate.save(folder / kind)
            expected = answers(gate, asked)
        (folder / f"{kind}-expected.json").write_text(json.dumps(expected), "utf-8")


if __name__ == "__main__":
    main(Path(__file__).with_name("gate-v1"))
