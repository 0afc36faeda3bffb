"""Made the detectors under ``gate-v1`` that every later version has to load and to score alike.

They are kept as they are; a new format gets a folder of its own beside them. ``inputs`` is what they were
fitted on and are asked about: whole-number formulas, so that no library's random numbers matter.
"""

import json
from pathlib import Path

import numpy as np

from dissensus import BayesianVAE

SETTINGS = {"epochs": 3, "draws": 2, "chains": 1, "samples": 4, "latent_size": 1, "false_alarm_rate": 0.2}
GATES = {
    "pictures": {**SETTINGS, "widths": (1,), "statistic": "kl"},
    "rows": {**SETTINGS, "widths": (4,), "statistic": "typicality", "variant": 2},
}

ASKED = 12


def inputs(kind):
    if kind == "rows":
        row, column = np.mgrid[:40, :3]
        return (7 * row + 3 * (row % 5) * column**2) % 11 / 2
    picture, y, x = np.mgrid[:40, :8, :8]
    return ((37 * picture + 11 * x * y + 5 * x) % 256).astype(np.uint8)


def main(folder):
    for kind, settings in GATES.items():
        gate = BayesianVAE(**settings, device="cpu").fit(inputs(kind))
        gate.save(folder / kind)
        asked = inputs(kind)[:ASKED]
        expected = {
            "log_likelihoods": gate.log_likelihoods(asked).values.tolist(),
            "scores": gate.score_samples(asked).tolist(),
            "p_values": gate.p_values(asked).tolist(),
        }
        (folder / f"{kind}-expected.json").write_text(json.dumps(expected), "utf-8")


if __name__ == "__main__":
    main(Path(__file__).with_name("gate-v1"))
