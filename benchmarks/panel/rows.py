"""One number each: a run's scores against every kind of outlier."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.panel.configuration import RECOMMENDED
from benchmarks.panel.inputs import FITTED_ON, MADE_UP_TO_LEARN, OF_TEST_FILE, OF_TRAINING_FILE
from benchmarks.panel.power import Power, discovery_power
from benchmarks.panel.sets import EVERY_SET, InlierSet, Kind, kind_of
from benchmarks.records import Record, digest
from dissensus.evaluation import evaluate
from dissensus.seeding import numpy_stream

__all__ = ["BASELINE", "MEASURED", "NO_MODEL", "Row", "read_rows", "rows_of_scores", "to_record"]

BASELINE = "baseline/"
"""What the names of records of simple baselines begin with."""
NO_MODEL = "no model"
"""What rows call the posterior of a detector that has none."""
AREAS = ("auroc", "fpr80_in", "fpr95_in")
INPUTS = ("n_in", "n_out")
TRAINING_FILE = ("bh_power", "bh_false", "alarms")
TEST_FILE = ("test_bh_power", "test_bh_false", "test_alarms")
"""What is found with calibration images of either file, the parts of a ``Power`` each. Records that are older
than the second calibration set have neither its columns nor ``alarms``."""
MEASURED = (*AREAS, *TRAINING_FILE, *TEST_FILE, *INPUTS)
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
    training_file: Power
    """With calibration images of the file that was trained on."""
    test_file: Power | None
    """With calibration images of the file that the inliers are from; None where it was not measured."""
    n_in: int
    n_out: int


def to_record(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The columns that a record's own name, seed and settings do not tell."""
    return [
        {name: getattr(row, name) for name in ("outliers", "score", *AREAS)}
        | dict(zip(TRAINING_FILE, row.training_file, strict=True))
        | dict(zip(TEST_FILE, row.test_file or (), strict=False))
        | {name: getattr(row, name) for name in INPUTS}
        for row in rows
    ]


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
                kind=kind_of(EVERY_SET[inliers], row["outliers"]),
                posterior=NO_MODEL if without_model else record.name.partition("/")[0],
                score=row["score"],
                recommended=recommended and row["score"] == RECOMMENDED.score,
                seed=record.seed or 0,
                training_file=Power(row["bh_power"], row["bh_false"], row.get("alarms")),
                test_file=Power(*(row[name] for name in TEST_FILE)) if TEST_FILE[0] in row else None,
                **{name: row[name] for name in (*AREAS, *INPUTS)},
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
        if outliers not in (*FITTED_ON, OF_TEST_FILE, "inliers") and not outliers.startswith(MADE_UP_TO_LEARN)
        for name, values in scores.items()
    ]


def _compared(sections: Mapping[str, slice], outliers: str) -> dict[str, slice]:
    compared = (OF_TRAINING_FILE, OF_TEST_FILE, "inliers")
    return {name: sections[name] for name in compared if name in sections} | {"outliers": sections[outliers]}


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
    known = {name: own[~np.isnan(own)] for name, own in values.items()}
    inside, outside = known["inliers"], known["outliers"]
    metrics = evaluate(inside, outside)

    def power(calibration: NDArray[np.float64]) -> Power:
        # The same mixes for every score and calibration set: they are compared on the same images.
        random = numpy_stream(seed, "panel", inliers.name, outliers, "mixes")
        return discovery_power(calibration, inside, outside, random)

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
        training_file=power(known[OF_TRAINING_FILE]),
        test_file=power(known[OF_TEST_FILE]) if OF_TEST_FILE in known else None,
        n_in=len(inside),
        n_out=len(outside),
    )
