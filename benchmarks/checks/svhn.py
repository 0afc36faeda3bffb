"""Why SVHN's test images raise more false alarms than they should, by scores that need no network.

Calibration images are of the training file, inliers of the test file. Three causes are possible, and each
predicts what another would not:

- The files differ. Then it matters which file calibration images are of, and nothing else.
- Crops of one photograph are neighbours in the training file, so that a calibration image has siblings among
  the training images, where a test image has none. Then calibration images of whole blocks of the file, none
  of which was trained on, mend it; and images of such blocks raise as many alarms as test images do.
- The files differ in brightness, contrast or sharpness alone. Then it is mended by choosing test images that
  match the training images in these, or by giving all images the same brightness and contrast.

CIFAR-10, MNIST and Fashion-MNIST are measured beside it. Outliers are above every score, so that the share
of false discoveries says nothing about a score but whether its p-values hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from benchmarks.baselines.detectors import GaussianMixture, ImageStatistics
from benchmarks.checks.asked import Asked
from benchmarks.panel.power import FALSE_ALARM_RATE, FALSE_DISCOVERY_RATE, discovery_power
from benchmarks.pieces import Found, Piece
from benchmarks.records import Record
from dissensus.inputs import load_dataset
from dissensus.seeding import numpy_stream, stream_seed

__all__ = ["DATASETS", "MATCHED", "SCORES", "WAYS", "mean_of", "pieces", "sentences"]

Images: TypeAlias = NDArray[np.uint8]
Floats: TypeAlias = NDArray[np.float64]

DATASETS = ("svhn", "cifar10", "mnist", "fashion-mnist")
SCORES = ("1st neighbour", "5th neighbour", "gaussian", "image statistics")
MATCHED = ("brightness", "contrast", "sharpness")
WAYS = {
    "training file": "calibrated on training images drawn at random, as the panel was",
    "test file": "calibrated on other test images",
    "pooled": "both files shuffled together before anything is chosen",
    "swapped": "trained and calibrated on the test file, inliers of the training file",
    "blocks": "calibrated on whole blocks of the training file, none of which was trained on",
    "blocks as inliers": "those blocks in place of test images",
    **{f"matched {name}": f"test images that match training images in {name}" for name in MATCHED},
    "matched in all": "test images that match training images in all three",
    "normalised": "every image with the same brightness and contrast",
}
"""How images are chosen, in words."""

COMPONENTS = 64
SIZES = {
    "training": 60_000,
    "components_of": 5_000,
    "fitting": 1_000,
    "calibration": 2_000,
    "inliers": 4_000,
}
QUICK = {"training": 2_000, "components_of": 500, "fitting": 200, "calibration": 200, "inliers": 300}
BLOCK, BORDER = 20, 10  # a house number has at most six digits, whose crops follow each other
LAGS = (1, 2, 3, 5, 10, 100, 1000)


def pieces(asked: Asked) -> Iterator[Piece]:
    """One for each dataset and seed."""
    sizes = QUICK if asked.quick else SIZES
    settings = {**sizes, "components": COMPONENTS, "block": BLOCK, "border": BORDER, "ways": list(WAYS)}
    settings |= {"false_alarm_rate": FALSE_ALARM_RATE, "false_discovery_rate": FALSE_DISCOVERY_RATE}
    for name in DATASETS:
        for seed in asked.seeds:
            yield Piece("svhn", name, settings, partial(_measured, name, sizes, seed), seed)


def sentences(records: list[Record]) -> list[str]:
    """One line a dataset and way."""
    return [
        f"{name}, {way}: of test inliers p ≤ {FALSE_ALARM_RATE:g} in "
        + ", ".join(f"{mean_of(records, name, way, score, 'alarms'):.3f} ({score})" for score in SCORES)
        for name in dict.fromkeys(record.name for record in records)
        for way in WAYS
    ]


def mean_of(records: list[Record], dataset: str, way: str, score: str, column: str) -> float:
    """The mean over seeds."""
    return fmean(
        row[column]
        for record in records
        for row in record.rows
        if (record.name, row["way"], row["score"]) == (dataset, way, score)
    )


def _measured(name: str, sizes: Mapping[str, int], seed: int, say: Callable[[str], None]) -> Found:
    train, test = load_dataset(name, "train").images, load_dataset(name, "test").images
    random = numpy_stream(seed, "checks", "svhn", name)
    rows = []
    for way, inliers, calibration in _chosen(train, test, sizes, random, seed, say):
        for score in SCORES:
            own, usual = inliers[score], calibration[score]
            outliers = np.full(len(own) // 9, max(own.max(), usual.max()) + 1)
            found = discovery_power(usual, own, outliers, numpy_stream(seed, "checks", "svhn", "mixes"))
            rows.append({"way": way, "score": score, "alarms": found.alarms, "false": found.false})
    return Found(rows, {"nearness": {"train": _nearness(train), "test": _nearness(test)}})


Scored: TypeAlias = Mapping[str, Floats]


def _chosen(
    train: Images,
    test: Images,
    sizes: Mapping[str, int],
    random: np.random.Generator,
    seed: int,
    say: Callable[[str], None],
) -> Iterator[tuple[str, Scored, Scored]]:
    """For each way, the scores of inliers and of calibration images, by name."""
    counts = [sizes["calibration"], sizes["fitting"]]
    blocks, others = _blocks(len(train), sizes["calibration"], random)
    near, fitting, training = np.split(random.permutation(others), np.cumsum(counts))
    training = training[: sizes["training"]]
    own, rest = np.split(random.permutation(len(test)), [sizes["calibration"]])
    inliers = rest[: sizes["inliers"]]
    say("scores of the training file")
    score = _fit(train[training], train[fitting], sizes, seed)
    of_train, of_blocks, of_own = (
        score(images) for images in (train[near], train[blocks[: sizes["calibration"]]], test[own])
    )
    of_rest = score(test[rest])
    of_test = {name: values[: len(inliers)] for name, values in of_rest.items()}
    yield "training file", of_test, of_train
    yield "test file", of_test, of_own
    yield "blocks", of_test, of_blocks
    yield "blocks as inliers", of_blocks, of_train
    wanted, there = _looks(train[training[: sizes["inliers"]]]), _looks(test[rest])
    for title, columns in (
        *((f"matched {name}", [number]) for number, name in enumerate(MATCHED)),
        ("matched in all", [0, 1, 2]),
    ):
        scale = wanted[:, columns].std(axis=0)
        nearest = NearestNeighbors(n_neighbors=1).fit(there[:, columns] / scale)
        chosen = nearest.kneighbors(wanted[:, columns] / scale)[1][:, 0]
        yield title, {name: values[chosen] for name, values in of_rest.items()}, of_train
    files: Mapping[str, Callable[[], tuple[Images, Images]]] = {
        "pooled": partial(_shuffled, train, test, random),
        "swapped": lambda: (test, train),
        "normalised": lambda: (_normalised(train), _normalised(test)),
    }
    for title, make in files.items():
        say(title)
        first, second = make()
        order = random.permutation(len(first))
        calibrating, fitted_on, trained_on = np.split(order, np.cumsum(counts))
        score = _fit(first[trained_on[: sizes["training"]]], first[fitted_on], sizes, seed)
        asked = second[random.permutation(len(second))[: sizes["inliers"]]]
        yield title, score(asked), score(first[calibrating])


def _fit(
    training: Images, fitting: Images, sizes: Mapping[str, int], seed: int
) -> Callable[[Images], dict[str, Floats]]:
    """Every score, learnt from training images, or from fewer that were not trained on."""
    few = training[: sizes["components_of"]]
    components = PCA(
        COMPONENTS, svd_solver="randomized", random_state=stream_seed(seed, "components") >> 31
    ).fit(_rows(few))
    index = NearestNeighbors(n_neighbors=5, algorithm="brute").fit(_projected(components, training))
    gaussian = GaussianMixture(parts=1, components=COMPONENTS).fit(_projected(components, few), seed=seed)
    statistics = ImageStatistics().fit(_pictures(fitting), seed=seed)

    def score(images: Images) -> dict[str, Floats]:
        projected = _projected(components, images)
        distances = index.kneighbors(projected)[0].astype(np.float64)
        found = (distances[:, 0], distances[:, -1], gaussian(projected), statistics(_pictures(images)))
        return dict(zip(SCORES, found, strict=True))

    return score


def _projected(components: PCA, images: Images) -> NDArray[np.float32]:
    """A few at a time: as floats, all are gigabytes."""
    parts = [components.transform(_rows(images[at : at + 4096])) for at in range(0, len(images), 4096)]
    return np.concatenate(parts).astype(np.float32)


def _blocks(
    count: int, wanted: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Whole blocks with as many places as wanted or more, and all places that are not next to one."""
    starts = random.permutation(np.arange(0, count - BLOCK + 1, BLOCK))[: -(-wanted // BLOCK)]
    inside, near = np.zeros(count, bool), np.zeros(count, bool)
    for start in starts:
        inside[start : start + BLOCK] = True
        near[max(0, start - BORDER) : start + BLOCK + BORDER] = True
    return random.permutation(np.flatnonzero(inside)), np.flatnonzero(~near)


def _shuffled(train: Images, test: Images, random: np.random.Generator) -> tuple[Images, Images]:
    """Files of the same sizes in which nothing tells where an image came from."""
    both = np.concatenate([train, test])
    order = random.permutation(len(both))
    return both[order[: len(train)]], both[order[len(train) :]]


def _looks(images: Images) -> Floats:
    """Brightness, contrast and sharpness (N, 3): mean, deviation, and mean step between neighbours."""
    grey = _grey(images)
    steps = np.abs(np.diff(grey, axis=1)).mean(axis=(1, 2)) + np.abs(np.diff(grey, axis=2)).mean(axis=(1, 2))
    return np.stack([grey.mean(axis=(1, 2)), grey.std(axis=(1, 2)), steps], axis=1).astype(np.float64)


def _normalised(images: Images) -> Images:
    """Every image with a mean of 128 and a deviation of 40."""
    found = np.empty_like(images)
    for at in range(0, len(images), 4096):
        part = images[at : at + 4096].astype(np.float32)
        axes = tuple(range(1, part.ndim))
        part -= part.mean(axis=axes, keepdims=True)
        part *= 40 / np.maximum(part.std(axis=axes, keepdims=True), 1)
        found[at : at + 4096] = np.clip(part + 128, 0, 255).round()
    return found


def _nearness(images: Images) -> dict[str, float]:
    """Median distance of images so many places apart in the file, relative to those far apart.

    Below 1 where those side by side are crops of one photograph, so that the file is in their order.
    """
    grey = _grey(images[:20_000])
    side = grey.shape[1] // 4 * 4
    blurred = grey[:, :side, :side].reshape(len(grey), 4, side // 4, 4, side // 4).mean(axis=(2, 4))
    flat = blurred.reshape(len(grey), -1)
    found = {
        str(lag): float(np.median(np.linalg.norm(flat[lag:] - flat[:-lag], axis=1)))
        for lag in LAGS
        if lag < len(flat)
    }
    last = next(reversed(found.values()))
    return {lag: value / last for lag, value in found.items()}


def _grey(images: Images) -> NDArray[np.float32]:
    return images.mean(axis=-1, dtype=np.float32) if images.ndim == 4 else images.astype(np.float32)


def _rows(images: Images) -> NDArray[np.float32]:
    return images.reshape(len(images), -1).astype(np.float32) / np.float32(255)


def _pictures(images: Images) -> NDArray[Any]:
    """(N, H, W, C)."""
    return images if images.ndim == 4 else images[..., None]
