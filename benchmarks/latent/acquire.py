"""Active learning on Fashion-MNIST: the inputs that draws disagree about, random ones, and novel ones.

Each way begins with the same 500 images, fits, chooses from a pool, and fits again at every size. What is
told of a fit is the likelihood of held-out images under the mixture of its draws. Only training images are
read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from dissensus import Detector
from dissensus.inputs import load_dataset
from dissensus.scores import mixture_log_likelihood
from dissensus.seeding import numpy_stream

__all__ = ["AcquireSizes", "measure_acquisition"]


@dataclass(frozen=True)
class AcquireSizes:
    """How many images there are at each step."""

    steps: tuple[int, ...] = (500, 1000, 2000, 3500, 5000)
    pool: int = 20_000
    held_out: int = 2000
    epochs: int | None = None
    draws: int = 10
    samples: int = 8


def measure_acquisition(
    sizes: AcquireSizes, *, seed: int, device: str, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """A row for each way and size."""
    images = load_dataset("fashion-mnist", "train").images
    order = numpy_stream(seed, "acquire").permutation(len(images))
    pool, held_out = order[: sizes.pool], order[sizes.pool :][: sizes.held_out]
    rows = []
    for way in ("acquire", "random", "novel"):
        chosen = np.arange(sizes.steps[0])  # places in the pool
        for size, following in zip(sizes.steps, (*sizes.steps[1:], None), strict=True):
            say(f"{way}: {size} images")
            gate = _fitted(images[pool[chosen]], sizes, seed, device)
            matrix = gate.log_likelihoods(images[held_out]).values
            value = -float(mixture_log_likelihood(matrix).mean())
            rows.append({"way": way, "images": size, "held-out log p": value})
            if following is not None:
                left = np.setdiff1d(np.arange(len(pool)), chosen)
                new = _choose(way, gate, images[pool], chosen, left, following - size, seed)
                chosen = np.concatenate([chosen, new])
    return rows


def _fitted(images: NDArray[np.uint8], sizes: AcquireSizes, seed: int, device: str) -> Detector:
    """A gate of the default model, whose draws alone are asked."""
    return Detector(
        model="vae",
        epochs=sizes.epochs,
        draws=sizes.draws,
        samples=sizes.samples,
        statistic="mean-ll",
        examples=0,
        device=device,
        random_state=seed,
    ).fit(images)


def _choose(
    way: str,
    gate: Detector,
    pool: NDArray[np.uint8],
    chosen: NDArray[np.int64],
    left: NDArray[np.int64],
    count: int,
    seed: int,
) -> NDArray[np.int64]:
    if way == "acquire":
        return left[gate.acquire(pool[left], count)]
    if way == "random":
        return numpy_stream(seed, "acquire", "random", len(chosen)).permutation(left)[:count]
    flat = PCA(32, random_state=0).fit_transform(pool.reshape(len(pool), -1) / 255)
    distance, _ = NearestNeighbors(n_neighbors=5).fit(flat[chosen]).kneighbors(flat[left])
    return left[np.argsort(-distance[:, -1], kind="stable")[:count]]
