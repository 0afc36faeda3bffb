"""Detectors of scikit-learn, on standardised columns: a class each, with its settings.

Those of the pictures (``benchmarks.baselines``) look at principal components, as pixels want it; here columns
are taken as they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from benchmarks.tables.contract import Fitted
from benchmarks.tables.sets import FloatArray
from dissensus.seeding import stream_seed

__all__ = ["Forest", "Lof", "Mixture", "Neighbour", "Residual", "Svm"]


class Simple(ABC):
    """A frozen dataclass of settings that makes an object with ``score`` of standardised rows."""

    def settings(self) -> dict[str, Any]:
        """Its class and fields."""
        fields: dict[str, Any] = asdict(self)  # type: ignore[call-overload]  # every subclass is a dataclass
        return {"kind": type(self).__name__, **fields}

    def lacking(self) -> None:
        """It is always there."""
        return

    def fit(self, rows: FloatArray, /, *, seed: int, contamination: float | None = None) -> Fitted:  # noqa: ARG002
        """Standardise the columns by the rows, and learn from them; a contamination sets no score."""
        scaler = StandardScaler().fit(rows)
        # 32 bits, as scikit-learn takes it.
        found = self._learn(scaler.transform(rows), stream_seed(seed, "tables", type(self).__name__) >> 31)

        def score(asked: FloatArray) -> FloatArray:
            return np.asarray(self._score(found, scaler.transform(asked)), dtype=np.float64)

        return Fitted(score)

    @abstractmethod
    def _learn(self, rows: FloatArray, random_state: int) -> Any: ...

    def _score(self, found: Any, rows: FloatArray) -> Any:
        """As scikit-learn's detectors and densities have it: higher is more normal."""
        return -found.score_samples(rows)


@dataclass(frozen=True)
class Neighbour(Simple):
    """The distance to the k-th nearest training row."""

    neighbour: int = 5

    def _learn(self, rows: FloatArray, random_state: int) -> Any:  # noqa: ARG002
        return NearestNeighbors(n_neighbors=min(self.neighbour, len(rows))).fit(rows)

    def _score(self, found: Any, rows: FloatArray) -> Any:
        return found.kneighbors(rows)[0][:, -1]


@dataclass(frozen=True)
class Lof(Simple):
    """The local outlier factor: how much sparser it is around a row than around its neighbours."""

    neighbours: int = 20

    def _learn(self, rows: FloatArray, random_state: int) -> Any:  # noqa: ARG002
        return LocalOutlierFactor(min(self.neighbours, len(rows) - 1), novelty=True).fit(rows)


@dataclass(frozen=True)
class Forest(Simple):
    """How few random cuts set a row apart."""

    trees: int = 100

    def _learn(self, rows: FloatArray, random_state: int) -> Any:
        return IsolationForest(n_estimators=self.trees, random_state=random_state).fit(rows)


@dataclass(frozen=True)
class Svm(Simple):
    """The one-class support vector machine with Gaussian kernels."""

    nu: float = 0.5

    def _learn(self, rows: FloatArray, random_state: int) -> Any:  # noqa: ARG002
        return OneClassSVM(nu=self.nu).fit(rows)


@dataclass(frozen=True)
class Residual(Simple):
    """The squared distance to the principal components that explain a share of the variance."""

    variance: float = 0.9

    def _learn(self, rows: FloatArray, random_state: int) -> Any:  # noqa: ARG002
        return PCA(self.variance, svd_solver="full").fit(rows)

    def _score(self, found: Any, rows: FloatArray) -> Any:
        return ((rows - found.inverse_transform(found.transform(rows))) ** 2).sum(axis=1)


@dataclass(frozen=True)
class Mixture(Simple):
    """The negative log density under a mixture of Gaussians, fewer of few rows."""

    parts: int = 10
    rows_a_part: int = 50

    def _learn(self, rows: FloatArray, random_state: int) -> Any:
        parts = int(np.clip(len(rows) // self.rows_a_part, 1, self.parts))
        return GaussianMixture(parts, random_state=random_state).fit(rows)
