"""Two tables: densities side by side, and what each further statistic adds to the fused score."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from rich.table import Table

from benchmarks.decimals import short
from benchmarks.densities.candidates import FLOW
from benchmarks.densities.tasks import BASELINES, CORRECTED, EXTRA
from benchmarks.panel.power import Power, mean_power, shown_power
from benchmarks.panel.sets import InlierSet, kind_of
from benchmarks.records import Record

__all__ = ["ablation", "comparison", "markdown", "mean_auroc", "terminal"]

SHOWN = ("mixture-ll", "ess", "kl", "whitened", "fused")
Lines = list[tuple[str, ...]]


def mean_auroc(records: Sequence[Record], score: str, outliers: Sequence[str]) -> float | None:
    """The mean over these outliers and over seeds; None where something is missing."""
    found = [
        float(row["auroc"])
        for record in records
        for row in record.rows
        if row["score"] == score and row["outliers"] in outliers
    ]
    return fmean(found) if found and len(found) == len(records) * len(outliers) else None


def comparison(inliers: InlierSet, records: Sequence[Record]) -> Lines:
    """A line for each density and each set of outliers: bits a dimension, and the AUROC of each score.

    After that of the fused score comes its power at a false discovery rate of 10%, as in the panel: in square
    brackets where more than that share was false. The baselines take no density.
    """
    near = [each for each in inliers.outliers if kind_of(inliers, each) == "near"]
    asked = {each: [each] for each in (*inliers.other_datasets, *near)}
    if inliers.made_up:
        asked["made up"] = list(inliers.made_up)
    lines: Lines = [("learnt", "outliers", "density", "bits", *SHOWN, "power (false)", *BASELINES)]
    for outliers, members in asked.items():
        for name in dict.fromkeys(record.name for record in records):
            own = [record for record in records if record.name == name]
            bits = fmean(record.about["bits"]["together"] for record in own)
            exact = all(record.about["exact"] for record in own) and name != FLOW
            areas = [short(mean_auroc(own, score, members)) for score in (*SHOWN, *BASELINES)]
            areas.insert(len(SHOWN), _power(own, "fused", members))
            lines.append((inliers.name, outliers, name, f"{'' if exact else '≤ '}{bits:.2f}", *areas))
    return lines


def ablation(inliers: InlierSet, records: Sequence[Record]) -> Lines:
    """A line for each density and further statistic: by itself, and with it in the fused score."""
    lines: Lines = [("learnt", "density", "fused", "it alone", "as it is", "so", "worst change")]
    for name in dict.fromkeys(record.name for record in records):
        own = [record for record in records if record.name == name]
        outliers = list(dict.fromkeys(row["outliers"] for row in own[0].rows))
        for extra in (*EXTRA, "all", CORRECTED):
            # What is fused already is shown without its place in the lead.
            together = f"fused, led by {CORRECTED} too" if extra == CORRECTED else f"fused with {extra}"
            if mean_auroc(own, together, outliers) is None:
                continue
            changes = [
                (mean_auroc(own, together, [each]) or 0.0) - (mean_auroc(own, "fused", [each]) or 0.0)
                for each in outliers
            ]
            cells = [short(mean_auroc(own, score, outliers)) for score in (extra, "fused", together)]
            said = f"led by {extra} too" if extra == CORRECTED else f"with {extra}"
            lines.append((inliers.name, name, said, *cells, f"{min(changes):+.3f}"))
    return lines


def _power(records: Sequence[Record], score: str, outliers: Sequence[str]) -> str:
    """The mean power, of many sets with those that do not count as 0.

    Where inliers are of a test file, so are the pictures that p-values come from, as in the panel.
    """
    found = [
        Power(row.get("test_bh_power", row["bh_power"]), row.get("test_bh_false", row["bh_false"]))
        for record in records
        for row in record.rows
        if row["score"] == score and row["outliers"] in outliers
    ]
    several = len(outliers) > 1
    return shown_power(mean_power(found, counted=several), of_many=several)


def terminal(lines: Lines) -> Table:
    """For a terminal: a column each."""
    found = Table(*lines[0])
    for line in lines[1:]:
        found.add_row(*line)
    return found


def markdown(lines: Lines) -> str:
    """For a page."""
    rows = [lines[0], ("---",) * len(lines[0]), *lines[1:]]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
