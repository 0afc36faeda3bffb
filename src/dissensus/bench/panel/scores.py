"""Every score of the panel, made from what a run left; higher = more out-of-distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from dissensus.bench.panel.run_result import PanelResult
from dissensus.errors import SettingsError
from dissensus.likelihood import STATISTICS
from dissensus.scores import SCORES, FittedScore, Fusion, input_complexity, score

__all__ = ["FUSIONS", "PANEL_SCORES", "FusedScore", "panel_scores"]

Scores = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class FusedScore:
    """A candidate for the recommended score: arguments of :class:`dissensus.scores.Fusion`."""

    statistics: tuple[str, ...]
    """Names of scores of the matrix and of statistics of the inputs; the fusion itself is two-sided."""
    depth: str = "mixture"
    leading: tuple[str, ...] = ("whitened",)


_FEW = ("whitened", "mean-ll", "kl", "latent-norm", "latent-scale")
_MORE = (*_FEW, "std", "corrected-ll", "pixel-variance", "reconstruction")

FUSIONS: Mapping[str, FusedScore] = MappingProxyType(
    {
        "fused-gaussian": FusedScore(_FEW, "gaussian"),
        "fused-mixture": FusedScore(_FEW),
        "fused-neighbours": FusedScore(_FEW, "neighbours"),
        "fused-mixture-even": FusedScore(_FEW, leading=()),
        "fused-mixture-more": FusedScore(_MORE),
        "fused-mixture-coded": FusedScore((*_MORE, "code-length")),
    }
)
"""Fused scores by name."""

TWO_SIDED = (*(name for name, each in STATISTICS.items() if each.tails == "both"), "code-length")
ONE_SIDED = tuple(name for name, each in STATISTICS.items() if each.tails == "upper")

PANEL_SCORES = (*SCORES, "input-complexity", *ONE_SIDED, *TWO_SIDED, *FUSIONS, "likelihood-regret")
"""Every name; a run need not have them all: a single draw does not disagree."""


def panel_scores(result: PanelResult, only: Sequence[str] | None = None) -> Scores:
    """Every score (N,) of all sections, or those named; NaN where an input was left out.

    Scores of the matrix and two-sided statistics learn from the section ``fitting``, fusions from ``fusing``.
    """
    unknown = [name for name in only or () if name not in PANEL_SCORES]
    if unknown:
        raise SettingsError(f"there is no score {unknown[0]!r}; choose one of {', '.join(PANEL_SCORES)}")
    wanted = set(PANEL_SCORES if only is None else only)
    ingredients = wanted | {
        name for fused, each in FUSIONS.items() if fused in wanted for name in each.statistics
    }
    raw = _of_the_matrix(result, ingredients)
    raw |= {name: values for name, values in result.statistics.items() if name in ingredients}
    found = {name: values for name, values in raw.items() if name in wanted and name not in TWO_SIDED}
    if "input-complexity" in wanted:
        found["input-complexity"] = input_complexity(result.matrix, result.statistics["code-length"])
    for name in wanted.intersection(TWO_SIDED, raw):
        alone = FusedScore((name,), "gaussian", leading=())
        found[name] = _fused(alone, raw, result.sections["fitting"])
    for name, fused in FUSIONS.items():
        if name in wanted and set(fused.statistics) <= set(raw):
            found[name] = _fused(fused, raw, result.sections["fusing"])
    if "likelihood-regret" in wanted and len(result.regret):
        found["likelihood-regret"] = result.regret
    return {name: found[name] for name in PANEL_SCORES if name in found}


def _of_the_matrix(result: PanelResult, names: set[str]) -> Scores:
    found = {}
    for name, entry in SCORES.items():
        if name in names and len(result.matrix) >= entry.least_draws:
            method = score(name)
            if isinstance(method, FittedScore):
                method.fit(result.matrix[:, result.sections["fitting"]])
            found[name] = method(result.matrix)
    return found


def _fused(fused: FusedScore, values: Scores, inliers: slice) -> NDArray[np.float64]:
    chosen = {name: values[name] for name in fused.statistics}
    fusion = Fusion(fused.depth, fused.leading).fit({name: each[inliers] for name, each in chosen.items()})
    return fusion(chosen)
