"""One number each: a run's scores against every kind of outlier."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.panel.configuration import RECOMMENDED
from benchmarks.panel.inputs import FITTED_ON
from benchmarks.panel.power import discovery_power
from benchmarks.panel.sets import INLIER_SETS, InlierSet, Kind, kind_of
from benchmarks.records import Record, digest
from dissensus.evaluation import evaluate
from dissensus.seeding import numpy_stream

__all__ = ["BASELINE", "MEASURED", "NO_MODEL", "Row", "read_rows", "rows_of_scores", "to_record"]

BASELINE = "baseline/"
"""What the names of records of simple baselines begin with."""
NO_MODEL = "no model"
"""What rows call the posterior of a detector that has none."""
MEASURED = ("auroc", "fpr80_in", "fpr95_in", "bh_power", "bh_false", "n_in", "n_out")
"""The columns of numbers."""


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


def to_record(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The columns that a record's own name, seed and settings do not tell."""
    return [{name: getattr(row, name) for name in ("outliers", "score", *MEASURED)} for row in rows]


def read_rows(inliers: str, records: Iterable[Record]) -> Iterator[Row]:
    """Every row of records of an in-distribution set.

    Those of the recommended detector are known by the settings of their record.
    """
    wanted = {digest(each.settings) for each in (RECOMMENDED, RECOMMENDED.quick())}
    for record in records:
        without_model = record.name.startswith(BASELINE)
        recommended = digest(record.settings.get("configuration", {})) in wanted
        for row in record.rows:
            yield Row(
                inliers=inliers,
                outliers=row["outliers"],
                kind=kind_of(INLIER_SETS[inliers], row["outliers"]),
                posterior=NO_MODEL if without_model else record.name.partition("/")[0],
                score=row["score"],
                recommended=recommended and row["score"] == RECOMMENDED.score,
                seed=record.seed or 0,
                **{name: row[name] for name in MEASURED},
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
