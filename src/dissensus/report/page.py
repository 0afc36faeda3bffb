"""The demonstration's report: one HTML file that needs nothing else, for screens of any width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dissensus.report.document import document
from dissensus.report.figure import Theme
from dissensus.report.findings import false_alarm_sentence, findings
from dissensus.report.health import describe_health
from dissensus.report.pictures import data_uri

__all__ = ["demo_page"]

HEADINGS = {
    "neighbours": "5th neighbour",
    "mean-ll": "log-likelihood",
    "waic": "WAIC",
    "ess": "ESS",
    "kl": "KL",
    "std": "std of LL",
}


def demo_page(
    record: Mapping[str, Any], figures: Mapping[Theme, bytes], pictures: Mapping[str, bytes]
) -> str:
    """The page, from a demonstration's record, its figure in both themes and a strip of PNG for each kind."""
    environment = record["environment"]
    names = list(next(iter(record["outliers"].values()))["auroc"])
    return document(
        "demo",
        findings=findings(record),
        figure_light=data_uri(figures["light"]),
        figure_dark=data_uri(figures["dark"]),
        headings=[HEADINGS.get(name, name) for name in names],
        rows=[
            {
                "kind": kind,
                "picture": data_uri(pictures[kind]) if kind in pictures else None,
                "cells": _cells([outlier["auroc"][name]["value"] for name in names]),
                "flagged": f"{outlier['flagged'] / outlier['count']:.0%}",
            }
            for kind, outlier in record["outliers"].items()
        ],
        false_alarms=false_alarm_sentence(record),
        health=describe_health(record["health"], record["noise_floor"]),
        training=f"{record['training']:,}",
        settings=record["settings"],
        seed=record["seed"],
        minutes=f"{sum(record['seconds'].values()) / 60:.1f}",
        processor=environment["processor"],
        cores=environment["cores"],
        versions=", ".join(f"{name} {version}" for name, version in environment["versions"].items()),
    )


def _cells(areas: Sequence[float]) -> list[dict[str, Any]]:
    """A row's AUROCs: coloured from one half (a coin) to one, the best in bold."""
    best = max(round(area, 2) for area in areas)
    return [
        {
            "area": f"{area:.2f}",
            "best": round(area, 2) == best,
            "tone": "good" if area >= 0.5 else "bad",
            # Per cent of colour, at most 50.
            "strength": f"{round(200 * abs(area - 0.5) ** 1.5 / 0.5**1.5) / 4:g}",
        }
        for area in areas
    ]
