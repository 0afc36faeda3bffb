"""Settings of ``Detector`` that are compared on the tables: a line each, by what they change."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from benchmarks.tables.contract import TableDetector
from benchmarks.tables.ours import Ours

__all__ = ["CANDIDATES", "DEFAULT", "candidate_detectors"]

DEFAULT = "detector"
"""As it comes: the group of records that the tables show as well."""

CANDIDATES: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
"""Arguments of ``Detector`` by a short name, as in ``{"short-steps": {"step_size": 3e-3}}``."""


def candidate_detectors(
    candidates: Mapping[str, Mapping[str, Any]] = CANDIDATES,
) -> dict[str, TableDetector]:
    """The default and all candidates, by the groups of their records."""
    return {
        DEFAULT: Ours("Detector"),
        **{f"candidate-{name}": Ours("Detector", changes) for name, changes in candidates.items()},
    }
