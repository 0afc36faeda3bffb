"""The detectors a reader would try first: a few lines of scikit-learn each, without a network.

Every table of the benchmarks has them beside the detector, learnt from the same inputs and asked about the
same ones. A baseline is a frozen dataclass of settings with ``fit``, and one line in :data:`BASELINES`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest as Forest
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Mixture
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from dissensus.inputs import image_statistics
from dissensus.scores import Fused, Fusion
from dissensus.seeding import numpy_stream, stream_seed

__all__ = [
    "BASELINES",
    "Baseline",
    "FloatArray",
    "GaussianMixture",
    "ImageStatistics",
    "IsolationForest",
    "NearestNeighbour",
    "baseline_settings",
]

FloatArray: TypeAlias = NDArray[np.float64]
Scorer: TypeAlias = Callable[[NDArray[Any]], FloatArray]
"""Inputs in, scores (N,) out; higher = more out-of-distribution."""

CHUNK = 4096  # inputs that are floats at a time


class Baseline(Protocol):
    """What tells outliers, made from settings that are its fields.

    Inputs are rows (N, D), or pictures (N, H, W, C) of uint8, whose pixels in [0, 1] are the columns.
    """

    learns_from: ClassVar[Literal["training", "held-out"]]
    """The training inputs; or fewer inliers that the other detectors' fusions learn from as well."""

    @property
    def at_most(self) -> int:
        """How many inputs are learnt from, so that time is bounded."""
        ...

    def fit(self, inputs: NDArray[Any], /, *, seed: int) -> Scorer:
        """Learn from inliers; where they are more than ``at_most``, from so many drawn at random."""
        ...


@dataclass(frozen=True)
class NearestNeighbour:
    """The Euclidean distance to the k-th nearest training input, on the leading principal components."""

    neighbour: int = 5
    components: int = 64
    whiten: bool = False
    """Whether every component has variance 1, so that distances count the small ones as the large ones."""
    at_most: int = 100_000
    learns_from: ClassVar[Literal["training", "held-out"]] = "training"

    def fit(self, inputs: NDArray[Any], /, *, seed: int) -> Scorer:
        """Keep the components of the training inputs."""
        some = _some(inputs, self.at_most, seed)
        project = _principal_components(some, self.components, whiten=self.whiten)
        neighbours = NearestNeighbors(n_neighbors=min(self.neighbour, len(some)), algorithm="brute")
        neighbours.fit(project(some))
        return lambda asked: neighbours.kneighbors(project(asked))[0][:, -1].astype(np.float64)


@dataclass(frozen=True)
class GaussianMixture:
    """The negative log density under a mixture of Gaussians of the leading principal components."""

    parts: int = 10
    inputs_a_part: int = 50
    """At least: of few training inputs there are fewer Gaussians."""
    components: int = 64
    steps: int = 20
    at_most: int = 10_000
    learns_from: ClassVar[Literal["training", "held-out"]] = "training"

    def fit(self, inputs: NDArray[Any], /, *, seed: int) -> Scorer:
        """Expectation maximisation from k-means, once."""
        some = _some(inputs, self.at_most, seed)
        project = _principal_components(some, self.components)
        parts = int(np.clip(len(some) // self.inputs_a_part, 1, self.parts))
        mixture = Mixture(parts, max_iter=self.steps, random_state=_random_state(seed, "mixture"))
        with warnings.catch_warnings(), threadpool_limits(1):
            # One that still moves after so many steps is a baseline as good as another. On a busy machine the
            # threads of its many small products wait for each other, for minutes.
            warnings.simplefilter("ignore", ConvergenceWarning)
            mixture.fit(project(some))
        return lambda asked: -mixture.score_samples(project(asked)).astype(np.float64)


@dataclass(frozen=True)
class IsolationForest:
    """How few random cuts set an input apart, by scikit-learn's forest."""

    trees: int = 100
    inputs_a_tree: int = 256
    components: int | None = None
    """Cuts are along principal components; ``None``: along the columns as they are."""
    at_most: int = 20_000
    learns_from: ClassVar[Literal["training", "held-out"]] = "training"

    def fit(self, inputs: NDArray[Any], /, *, seed: int) -> Scorer:
        """Grow the trees."""
        some = _some(inputs, self.at_most, seed)
        project = _rows if self.components is None else _principal_components(some, self.components)
        forest = Forest(
            n_estimators=self.trees,
            max_samples=min(self.inputs_a_tree, len(some)),
            random_state=_random_state(seed, "forest"),
        ).fit(project(some))
        return lambda asked: _in_chunks(lambda part: -forest.score_samples(project(part)), asked)


@dataclass(frozen=True)
class ImageStatistics:
    """The detector's own fusion of what pictures tell without any model: code length and spectrum."""

    depth: str = Fused.DEPTH
    at_most: int = 2_000
    learns_from: ClassVar[Literal["training", "held-out"]] = "held-out"

    def fit(self, inputs: NDArray[Any], /, *, seed: int) -> Scorer:
        """Learn where the statistics of inliers lie."""
        fusion = Fusion(self.depth).fit(image_statistics(_some(inputs, self.at_most, seed)))
        return lambda asked: fusion(image_statistics(asked))


# Of the candidates in benchmarks.panel.baselines the best on made-up outliers of training images, by mean
# AUROC (results/panel/baseline-selection.md).
BASELINES: Mapping[str, Baseline] = MappingProxyType(
    {
        "nearest-neighbour": NearestNeighbour(components=256, at_most=20_000),
        "gaussian-mixture": GaussianMixture(components=256),
        "isolation-forest": IsolationForest(components=None),
        "image-statistics": ImageStatistics(),
    }
)
"""Every baseline by name; the last is for pictures alone."""


def baseline_settings(baseline: Baseline) -> dict[str, Any]:
    """All that its scores depend on beside the inputs and the seed, as plain values.

    >>> baseline_settings(ImageStatistics())
    {'kind': 'ImageStatistics', 'depth': 'mixture', 'at_most': 2000, 'learns_from': 'held-out'}
    """
    fields: dict[str, Any] = asdict(baseline)  # type: ignore[call-overload]  # a protocol cannot ask for it
    return {"kind": type(baseline).__name__, **fields, "learns_from": baseline.learns_from}


def _principal_components(
    inputs: NDArray[Any], components: int, *, whiten: bool = False
) -> Callable[[NDArray[Any]], NDArray[np.float32]]:
    rows = _rows(inputs)
    # The exact components, without chance; of many rows without a second copy of them.
    solver: Literal["covariance_eigh", "full"] = "covariance_eigh" if len(rows) > rows.shape[1] else "full"
    principal = PCA(min(components, *rows.shape), whiten=whiten, svd_solver=solver).fit(rows)
    return lambda asked: _in_chunks(lambda part: principal.transform(_rows(part)), asked)


def _rows(inputs: NDArray[Any]) -> NDArray[np.float32]:
    """Inputs as rows (N, D) of floats."""
    rows = inputs.reshape(len(inputs), -1).astype(np.float32)
    return rows / np.float32(255) if inputs.dtype == np.uint8 else rows


def _in_chunks(function: Callable[[NDArray[Any]], NDArray[Any]], inputs: NDArray[Any]) -> NDArray[Any]:
    """What a function makes of all inputs, of which few are floats at a time."""
    return np.concatenate([function(inputs[at : at + CHUNK]) for at in range(0, len(inputs), CHUNK)])


def _some(inputs: NDArray[Any], at_most: int, seed: int) -> NDArray[Any]:
    """All of the inputs, or as many as are learnt from, drawn at random and in their order."""
    if len(inputs) <= at_most:
        return inputs
    chosen = numpy_stream(seed, "baselines", "some").permutation(len(inputs))[:at_most]
    return inputs[np.sort(chosen)]


def _random_state(seed: int, name: str) -> int:
    """As scikit-learn takes it: 32 bits."""
    return stream_seed(seed, "baselines", name) >> 31
