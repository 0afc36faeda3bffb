"""What ``dissensus demo`` finds: one detector with its defaults, and ten kinds of outlier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.checks.asked import Asked
from benchmarks.pieces import Found, Piece
from benchmarks.records import Record
from dissensus.defaults import THOROUGH
from dissensus.demo import demo_record, run_demo
from dissensus.detector import BayesianVAE

__all__ = ["QUICK", "pieces", "sentences"]

QUICK: dict[str, Any] = {"epochs": 2, "draws": 2, "samples": 1, "widths": (2,), "latent_size": 2}
"""Settings of a detector that takes seconds and knows nothing."""
TOLD = ("training", "threshold", "calibration_inputs", "health", "noise_floor", "inliers")


def pieces(asked: Asked) -> Iterator[Piece]:
    """One fit, of the first seed."""
    seed = asked.seeds[0]
    settings = {"device": "cpu", **(QUICK if asked.quick else {})}

    def measure(_: Callable[[str], None]) -> Found:
        record = demo_record(run_demo(BayesianVAE(random_state=seed, effort=THOROUGH, **settings)))
        return found_in(record)

    yield Piece("demo", "detector as it comes", settings, measure, seed)


def found_in(record: dict[str, Any]) -> Found:
    """A row a kind of outlier and score; ``flagged`` is by the detector's own score and threshold."""
    rows = [
        {"outliers": kind, "score": score, "auroc": area["value"], "low": area["low"], "high": area["high"]}
        for kind, own in record["outliers"].items()
        for score, area in own["auroc"].items()
    ]
    about = {name: record[name] for name in TOLD}
    about["gate"] = record["settings"]
    about["outliers"] = {
        kind: {"count": own["count"], "flagged": own["flagged"]} for kind, own in record["outliers"].items()
    }
    return Found(rows, about, record["seconds"])


def sentences(records: list[Record]) -> list[str]:
    """One sentence a fit."""
    said = []
    for record in records:
        about = record.about
        own = {
            row["outliers"]: row["auroc"] for row in record.rows if row["score"] == about["gate"]["statistic"]
        }
        worst = min(own, key=lambda kind: own[kind])
        inliers, best = about["inliers"], max(own.values())
        said.append(
            f"Demo: fitted in {record.seconds['fitting']:.0f} s; {inliers['flagged']} of {inliers['count']} "
            f"unseen clothes were flagged; AUROC {min(own.values()):.3f} ({worst}) to {best:.3f}."
        )
    return said
