"""One number each: a run's scores against every kind of outlier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.panel.inputs import FITTED_ON
from benchmarks.panel.power import discovery_power
from benchmarks.panel.run_result import PanelResult
from benchmarks.panel.scores import panel_scores
from benchmarks.panel.sets import InlierSet, Kind, kind_of
from dissensus.evaluation import evaluate
from dissensus.seeding import numpy_stream

__all__ = ["Row", "measured_rows", "rows_of_scores"]


@dataclass(frozen=True)
class Row:
    """One measurement, flat: how well one score of one posterior tells one kind of outlier from inliers."""

    inliers: str
    outliers: str
    kind: Kind
    posterior: str
    score: str
    recommended: bool
    """Whether posterior, score and all other settings are those of the recommended detector."""
    seed: int
    auroc: float
    fpr80_in: float
    """Outliers taken for inliers where 80% of the inliers are accepted: in-distribution is positive."""
    fpr95_in: float
    bh_power: float
    """Share of the outliers that Benjamini–Hochberg finds at a false discovery rate of 10%."""
    bh_false: float
    """Share of inliers among those it flags; at most 9% expected."""
    n_in: int
    n_out: int


def measured_rows(
    inliers: InlierSet,
    result: PanelResult,
    *,
    posterior: str,
    recommended_score: str | None,
    seed: int,
    only: Sequence[str] | None = None,
) -> list[Row]:
    """A row for each kind of outlier and each score, or those named.

    ``recommended_score`` is the one whose rows are the recommended detector's; None where the run is not.
    """
    return rows_of_scores(
        inliers,
        result.sections,
        panel_scores(result, only),
        posterior=posterior,
        recommended_score=recommended_score,
        seed=seed,
    )


def rows_of_scores(
    inliers: InlierSet,
    sections: Mapping[str, slice],
    scores: Mapping[str, NDArray[np.float64]],
    *,
    posterior: str,
    recommended_score: str | None,
    seed: int,
) -> list[Row]:
    """A row for each kind of outlier and each score (N,) of the images of all sections."""
    return [
        _row(
            inliers,
            outliers,
            {section: values[part] for section, part in _compared(sections, outliers).items()},
            posterior=posterior,
            score=name,
            recommended=name == recommended_score,
            seed=seed,
        )
        for outliers in sections
        if outliers not in (*FITTED_ON, "inliers")
        for name, values in scores.items()
    ]


def _compared(sections: Mapping[str, slice], outliers: str) -> dict[str, slice]:
    return {name: sections[name] for name in ("calibration", "inliers")} | {"outliers": sections[outliers]}


def _row(
    inliers: InlierSet,
    outliers: str,
    values: Mapping[str, NDArray[np.float64]],
    *,
    posterior: str,
    score: str,
    recommended: bool,
    seed: int,
) -> Row:
    # Likelihood regret is found for some inputs only.
    calibration, inside, outside = (
        values[name][~np.isnan(values[name])] for name in ("calibration", "inliers", "outliers")
    )
    metrics = evaluate(inside, outside)
    # The same mixes for every score: they are compared on the same images.
    power = discovery_power(
        calibration, inside, outside, numpy_stream(seed, "panel", inliers.name, outliers, "mixes")
    )
    return Row(
        inliers=inliers.name,
        outliers=outliers,
        kind=kind_of(inliers, outliers),
        posterior=posterior,
        score=score,
        recommended=recommended,
        seed=seed,
        auroc=metrics.auroc,
        fpr80_in=metrics.fpr80_in,
        fpr95_in=metrics.fpr95_in,
        bh_power=power.found,
        bh_false=power.false,
        n_in=len(inside),
        n_out=len(outside),
    )
