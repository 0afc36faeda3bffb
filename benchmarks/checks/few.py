"""What a detector of few inputs still finds: 286 rows of benign tumours, and 270 crops of a photograph.

Both come with scikit-learn. Beside the detectors stands the distance to the 5th nearest training input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_sample_images
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from benchmarks.checks.asked import Asked
from benchmarks.pieces import Found, Piece
from benchmarks.records import Record
from dissensus.demo.neighbours import neighbour_distances
from dissensus.detector import BayesianVAE, Detector
from dissensus.evaluation import auroc
from dissensus.inputs import make_up

__all__ = ["crops", "pieces", "sentences"]

DETECTORS: Mapping[str, type[Detector]] = {"Detector": Detector, "BayesianVAE": BayesianVAE}
SEEDS, RATE = 10, 0.1
SIDE, TRAINING, ASKED, CROPS_RATE = 24, 270, 120, 0.05
WAYS: Mapping[str, Callable[[int], int]] = {
    "one split": lambda _: 0,  # that of examples/table.py
    "ten splits": lambda seed: seed,
}
QUICK: dict[str, Any] = {"epochs": 2, "draws": 2}


def pieces(asked: Asked) -> Iterator[Piece]:
    """Each detector as it comes, by ten seeds and on ten splits of the rows; and crops."""
    few = QUICK if asked.quick else {}
    for name, detector in DETECTORS.items():
        for kind, splits in WAYS.items():
            seeds = range(2 if asked.quick else SEEDS)
            settings = {"detector": name, "false_alarm_rate": RATE, "seeds": list(seeds), **few}
            settings["splits"] = [splits(seed) for seed in seeds]
            measure = partial(_rows, detector, settings["splits"], few)
            yield Piece("few", f"breast cancer, {name}(), {kind}", settings, measure)
    for seed in asked.seeds:
        settings = {"side": SIDE, "training": TRAINING, "false_alarm_rate": CROPS_RATE, **few}
        yield Piece("few", "crops of a photograph", settings, partial(_crops, seed, few), seed)


def sentences(records: list[Record]) -> list[str]:
    """What was worst."""
    said = []
    for record in records:
        if record.seed is None:
            worst = min(record.rows, key=lambda row: float(row["auroc"]))
            near = min(float(row["neighbours"]) for row in record.rows)
            said.append(
                f"{record.name}: worst AUROC of {len(record.rows)} {worst['auroc']:.3f} "
                f"(seed {worst['seed']}); of the 5th nearest row {near:.3f}."
            )
        else:
            found = ", ".join(f"{row['asked']} {row['flagged']}" for row in record.rows)
            said.append(f"{record.name}, seed {record.seed}: flagged of {ASKED}: {found}.")
    return said


def _rows(
    kind: type[Detector], splits: list[int], settings: Mapping[str, Any], say: Callable[[str], None]
) -> Found:
    """Benign rows divided as in ``examples/table.py``; the split of each seed of the detector."""
    data = load_breast_cancer()
    benign, malignant = data.data[data.target == 1], data.data[data.target != 1]
    rows = []
    for seed, split in enumerate(splits):
        say(f"seed {seed}")
        train, unseen = train_test_split(benign, test_size=0.2, random_state=split)
        gate = kind(false_alarm_rate=RATE, random_state=seed, device="cpu", **settings).fit(train)
        near, far = (_distances(train, part) for part in (unseen, malignant))
        rows.append(
            {
                "seed": seed,
                "split": split,
                "auroc": auroc(-gate.score_samples(unseen), -gate.score_samples(malignant)),
                "neighbours": auroc(near, far),
                "flagged_benign": float((gate.predict(unseen) == -1).mean()),
                "flagged_malignant": float((gate.predict(malignant) == -1).mean()),
            }
        )
    return Found(rows)


def _distances(train: NDArray[np.float64], asked: NDArray[np.float64]) -> NDArray[np.float64]:
    """To the 5th nearest training row, in standardised columns."""
    scaler = StandardScaler().fit(train)
    nearest = NearestNeighbors(n_neighbors=5).fit(scaler.transform(train))
    distances: NDArray[np.float64] = nearest.kneighbors(scaler.transform(asked))[0][:, -1]
    return distances


def crops(photograph: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """All squares (N, 24, 24, 3) of a photograph that do not overlap."""
    high, wide = (size // SIDE for size in photograph.shape[:2])
    squares = photograph[: high * SIDE, : wide * SIDE].reshape(high, SIDE, wide, SIDE, 3).swapaxes(1, 2)
    return np.ascontiguousarray(squares.reshape(-1, SIDE, SIDE, 3))


def _crops(seed: int, settings: Mapping[str, Any], _: Callable[[str], None]) -> Found:
    """A gate of crops of one photograph, asked about others of it, of another, noise and single colours."""
    temple, flower = (crops(image) for image in load_sample_images().images)
    random = np.random.default_rng(seed)
    temple, flower = random.permutation(temple), random.permutation(flower)
    train, unseen = temple[:TRAINING], temple[TRAINING : TRAINING + ASKED]
    gate = Detector(false_alarm_rate=CROPS_RATE, random_state=seed, device="cpu", **settings).fit(train)
    asked = {
        "crops of the same photograph": unseen,
        "crops of another photograph": flower[:ASKED],
        "noise": make_up("uniform-noise", unseen, seed),
        "single colours": make_up("constant", unseen, seed),
    }
    normal, near = -gate.score_samples(unseen), neighbour_distances(train, unseen)
    rows = []
    for name, pictures in asked.items():
        scores, distances = -gate.score_samples(pictures), neighbour_distances(train, pictures)
        rows.append(
            {
                "asked": name,
                "flagged": int((gate.predict(pictures) == -1).sum()),
                "auroc": None if pictures is unseen else auroc(normal, scores),
                "neighbours": None if pictures is unseen else auroc(near, distances),
            }
        )
    return Found(rows, {"calibration_inputs": len(gate.calibration_scores_), "asked": ASKED})
