"""Every score of the panel, made from what a run left; higher = more out-of-distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.archive import Archive
from benchmarks.panel.inputs import MADE_UP_TO_LEARN
from dissensus.errors import SettingsError
from dissensus.inputs.pictures import PICTURED
from dissensus.models import OBSERVED
from dissensus.scores import MATRIX, SCORES, Fused, Fusion, Measured, input_complexity, score, weight

__all__ = ["FUSIONS", "PANEL_SCORES", "FusedScore", "panel_scores", "sections_of", "weights_of"]

Scores = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class FusedScore:
    """A candidate for the recommended score: what is fused, and how (:class:`dissensus.scores.Fusion`)."""

    of: Literal["all", "draws", "images"]
    """Statistics of the draws, of the images alone, or all of them and what training images tell."""
    depth: str = Fused.DEPTH
    leading: tuple[str, ...] = Fused.LEADING

    @property
    def led(self) -> tuple[str, ...]:
        """Those that lead; without what training images tell, as a detector without them."""
        return self.leading if self.of == "all" or not self.leading else Fused.LEADING_ALONE

    @property
    def weighed(self) -> tuple[str, ...]:
        """Those whose weights are learnt."""
        return Fused.WEIGHED if set(self.led) & set(Fused.LEADING) else ()


FUSIONS: Mapping[str, FusedScore] = MappingProxyType(
    {
        "fused": FusedScore("all"),
        "fused-even": FusedScore("all", leading=()),
        "fused-gaussian": FusedScore("all", "gaussian"),
        "fused-draws": FusedScore("draws"),
        "fused-images": FusedScore("images", leading=()),
    }
)
"""Fused scores by name: the detector's own, then it with another density or with fewer statistics."""

TWO_SIDED = (*(name for name, each in OBSERVED.items() if each.tails == "both"), "code-length")
ONE_SIDED = tuple(name for name, each in OBSERVED.items() if each.tails == "upper")

OF_MATRIX = tuple(name for name in SCORES if score(name).requires == (MATRIX,))

PANEL_SCORES = (
    *OF_MATRIX,
    "input-complexity",
    *ONE_SIDED,
    *TWO_SIDED,
    *PICTURED,
    *FUSIONS,
    "likelihood-regret",
)
"""Every name; a run need not have them all: a single draw does not disagree."""


def panel_scores(result: Archive, only: Sequence[str] | None = None) -> Scores:
    """Every score (N,) of all sections, or those named; NaN where an input was left out.

    Scores of the matrix and two-sided statistics learn from the section ``fitting``, fusions from ``fusing``.
    """
    unknown = [name for name in only or () if name not in PANEL_SCORES]
    if unknown:
        raise SettingsError(f"there is no score {unknown[0]!r}; choose one of {', '.join(PANEL_SCORES)}")
    wanted = set(PANEL_SCORES if only is None else only)
    statistics, sections = result.below("statistic"), sections_of(result)
    fusions = {name: _fused_names(each, statistics) for name, each in FUSIONS.items() if name in wanted}
    raw = _of_the_matrix(result["matrix"], sections["fitting"], wanted.union(*fusions.values())) | statistics
    found = {name: values for name, values in raw.items() if name in wanted and name not in TWO_SIDED}
    if "input-complexity" in wanted:
        found["input-complexity"] = input_complexity(result["matrix"], statistics["code-length"])
    for name in wanted.intersection(TWO_SIDED, raw):
        found[name] = _fused(Fusion("gaussian"), (name,), raw, sections["fitting"])
    for name, names in fusions.items():
        if set(names) <= set(raw):
            own = FUSIONS[name]
            fusion = Fusion(own.depth, own.led, weights_of(own.weighed, raw, sections))
            found[name] = _fused(fusion, names, raw, sections["fusing"])
    if "likelihood-regret" in wanted and len(result["regret"]):
        found["likelihood-regret"] = result["regret"]
    return {name: found[name] for name in PANEL_SCORES if name in found}


def sections_of(result: Archive) -> dict[str, slice]:
    """Which images of a run serve which purpose."""
    return {name: slice(*ends) for name, ends in result.info["sections"].items()}


def _fused_names(fused: FusedScore, statistics: Mapping[str, NDArray[np.float64]]) -> tuple[str, ...]:
    without_model = tuple(name for name in statistics if name not in OBSERVED)
    alone = tuple(name for name in without_model if name not in PICTURED)
    return {"all": (*Fused.PARTS, *without_model), "draws": Fused.PARTS, "images": alone}[fused.of]


def _of_the_matrix(matrix: NDArray[np.float64], fitting: slice, names: set[str]) -> Scores:
    found, measured = {}, Measured(matrix)
    fitted_on = measured.select(fitting)
    for name in OF_MATRIX:
        own = score(name)
        if name in names and measured.draws >= own.least_draws:
            found[name] = own.fit(fitted_on)(measured)
    return found


def weights_of(names: Sequence[str], values: Scores, sections: Mapping[str, slice]) -> dict[str, float]:
    """How much more high values of statistics count, as a detector learns it."""
    made_up = [part for name, part in sections.items() if name.startswith(MADE_UP_TO_LEARN)]
    return {
        name: weight(values[name][sections["fusing"]], [values[name][part] for part in made_up])
        for name in names
    }


def _fused(fusion: Fusion, names: Sequence[str], values: Scores, inliers: slice) -> NDArray[np.float64]:
    chosen = {name: values[name] for name in names}
    return fusion.fit({name: each[inliers] for name, each in chosen.items()})(chosen)
