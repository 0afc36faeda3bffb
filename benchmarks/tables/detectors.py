"""What is measured: a line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchmarks.tables.contract import TableDetector
from benchmarks.tables.others import PyOD
from benchmarks.tables.ours import Ours
from benchmarks.tables.simple import Forest, Lof, Mixture, Neighbour, Residual, Svm
from dissensus.errors import SettingsError

__all__ = ["BASE", "DETECTORS", "NEEDED", "OURS", "TITLES", "find_detectors"]

BASE = "knn"
"""What ours are compared with."""
NEEDED = ("detector", BASE)
"""Tables show the sets that these were measured on, and whoever was measured on all of them."""

OURS: Mapping[str, TableDetector] = MappingProxyType(
    {
        "detector": Ours("Detector"),
        "bayesian-flow": Ours("BayesianFlow", {"posterior": "sghmc"}),
        "bayesian-vae": Ours("BayesianVAE"),
    }
)
DETECTORS: Mapping[str, TableDetector] = MappingProxyType(
    {
        **OURS,
        "pyod-vae": PyOD("vae", "VAE", seeded=True),
        "gaussian-mixture": Mixture(),
        "knn": Neighbour(),
        "lof": Lof(),
        "isolation-forest": Forest(),
        "one-class-svm": Svm(),
        "pca": Residual(),
        "ecod": PyOD("ecod", "ECOD"),
    }
)
"""By the name of the group of its records; those that take long are first, and so begin first."""

TITLES: Mapping[str, str] = MappingProxyType(
    {
        "detector": "Detector()",
        "bayesian-flow": "BayesianFlow(posterior='sghmc')",
        "bayesian-vae": "BayesianVAE()",
        "pyod-vae": "VAE (PyOD)",
        "gaussian-mixture": "Gaussian mixture",
        "knn": "kNN (5th neighbour)",
        "lof": "LOF",
        "isolation-forest": "isolation forest",
        "one-class-svm": "one-class SVM",
        "pca": "PCA residual",
        "ecod": "ECOD (PyOD)",
    }
)
"""What tables and figures call them."""


def find_detectors(wanted: Sequence[str]) -> dict[str, TableDetector]:
    """Those of these names, or all."""
    if unknown := [name for name in wanted if name not in DETECTORS]:
        raise SettingsError(f"there is no detector {unknown[0]!r}; choose one of {', '.join(DETECTORS)}")
    return {name: each for name, each in DETECTORS.items() if not wanted or name in wanted}
