"""What every detector of this benchmark is: settings that can be fitted, and then give scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from benchmarks.tables.sets import FloatArray

__all__ = ["Fitted", "TableDetector"]


def _nothing(normal: FloatArray, strange: FloatArray) -> Mapping[str, Any]:  # noqa: ARG001
    return {}


@dataclass(frozen=True)
class Fitted:
    """What a fit gives."""

    score: Callable[[FloatArray], FloatArray]
    """Rows (N, D) in, scores (N,) out; higher = more unusual."""
    p_values: Callable[[FloatArray], FloatArray] | None = None
    """p-values of scores by rows that the fit has set aside itself; None: it has set none aside."""
    describe: Callable[[FloatArray, FloatArray], Mapping[str, Any]] = _nothing
    """What else a record keeps, from normal rows and anomalies."""


class TableDetector(Protocol):
    """What is measured; it can be sent to another process."""

    def settings(self) -> dict[str, Any]:
        """All that its scores depend on beside the rows and the seed, as plain values."""
        ...

    def lacking(self) -> str | None:
        """Why it cannot be measured here, as a sentence; None if it can."""
        ...

    def fit(self, rows: FloatArray, /, *, seed: int, contamination: float | None = None) -> Fitted:
        """Learn from rows (n, D), some share of which may be anomalies."""
        ...
