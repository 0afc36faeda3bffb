"""The operating points that are compared: efforts of one fit, by what they change."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dissensus.detector.effort import Effort

__all__ = ["CALLED", "POINTS", "THOROUGH", "decodings"]

_PNG, _PREDICTED = "code-length", "predicted-length"
THOROUGH = "all draws, K = 16"
CALLED: Mapping[str, str] = MappingProxyType(
    {"fast": "4 draws, one look", "standard": "8 draws, one look", "thorough": THOROUGH}
)
"""The points that are efforts of a detector."""


def _point(
    draws: int | None = None,
    samples: int | None = 0,
    *,
    code: str | None = _PREDICTED,
    chains: int | None = None,
    neighbours: bool = True,
) -> Effort:
    out = {_PNG, _PREDICTED} - {code} | (set() if neighbours else {"isolation"})
    return Effort("candidate", draws, chains, samples, frozenset(out))


POINTS: Mapping[str, Effort] = MappingProxyType(
    {
        THOROUGH: _point(samples=None, code=_PNG),
        "all draws, one look": _point(),
        "8 draws, K = 16": _point(8, 16),
        "8 draws, K = 4": _point(8, 4),
        "8 draws, K = 1": _point(8, 1),
        "8 draws, one look": _point(8),
        "8 draws, one look, PNG": _point(8, code=_PNG),
        "8 draws, one look, no code": _point(8, code=None),
        "8 draws, one look, no neighbours": _point(8, neighbours=False),
        "8 draws of one chain, one look": _point(8, chains=1),
        "4 draws, K = 4": _point(4, 4),
        "4 draws, K = 1": _point(4, 1),
        "4 draws, one look": _point(4),
        "4 draws, one look, PNG": _point(4, code=_PNG),
        "4 draws, one look, no neighbours": _point(4, neighbours=False),
        "4 draws of one chain, one look": _point(4, chains=1),
        "2 draws, one look": _point(2),
    }
)
"""By what a table calls them."""


def decodings(effort: Effort, *, draws: int, samples: int) -> int:
    """How many times an input is decoded, of a fit with so many draws and samples.

    >>> decodings(POINTS[THOROUGH], draws=20, samples=16)
    340
    >>> decodings(POINTS["8 draws, one look"], draws=20, samples=16)
    8
    """
    asked = draws if effort.draws is None else min(draws, effort.draws)
    return asked * (1 + (samples if effort.samples is None else effort.samples))
