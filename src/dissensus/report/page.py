"""The demonstration's report: one HTML file that needs nothing else, for screens of any width."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from dissensus.report.document import data_uri, document, items
from dissensus.report.figure import Theme
from dissensus.report.findings import false_alarm_sentence, findings
from dissensus.report.health import describe_health

__all__ = ["demo_page"]

HEADINGS = {
    "mean-ll": "log-likelihood",
    "waic": "WAIC",
    "ess": "ESS",
    "entropy": "entropy",
    "kl": "KL",
    "std": "std of LL",
}


def demo_page(
    record: Mapping[str, Any], figures: Mapping[Theme, bytes], pictures: Mapping[str, bytes]
) -> str:
    """The page, from a demonstration's record, its figure in both themes and a strip of PNG for each kind."""
    settings, environment = record["settings"], record["environment"]
    return document(
        "demo",
        "dissensus: the demonstration",
        findings=items(findings(record)),
        figure_light=data_uri(figures["light"]),
        figure_dark=data_uri(figures["dark"]),
        table=_table(record, pictures),
        statistic=escape(str(settings["statistic"])),
        false_alarms=escape(false_alarm_sentence(record)),
        health=items(describe_health(record["health"], record["noise_floor"])),
        training=f"{record['training']:,}",
        draws=settings["draws"],
        chains=settings["chains"],
        samples=settings["samples"],
        variant=settings["variant"],
        seed=record["seed"],
        minutes=f"{sum(record['seconds'].values()) / 60:.1f}",
        processor=escape(str(environment["processor"])),
        cores=environment["cores"],
        versions=escape(", ".join(f"{name} {version}" for name, version in environment["versions"].items())),
    )


def _table(record: Mapping[str, Any], pictures: Mapping[str, bytes]) -> str:
    names = list(next(iter(record["outliers"].values()))["auroc"])
    head = "".join(f"<th scope=col>{escape(HEADINGS.get(name, name))}</th>" for name in names)
    rows = [
        f"<tr><th scope=row><span>{escape(kind)}</span>{_picture(kind, pictures)}</th>"
        + _cells({name: outlier["auroc"][name]["value"] for name in names})
        + f"<td class=share>{outlier['flagged'] / outlier['count']:.0%}</td></tr>"
        for kind, outlier in record["outliers"].items()
    ]
    return (
        f"<thead><tr><th scope=col>outliers</th>{head}<th scope=col>flagged</th></tr></thead>\n"
        f"<tbody>{''.join(rows)}</tbody>"
    )


def _picture(kind: str, pictures: Mapping[str, bytes]) -> str:
    if kind not in pictures:
        return ""
    return f'<img alt="examples of {escape(kind)}" src="{data_uri(pictures[kind])}">'


def _cells(values: Mapping[str, float]) -> str:
    """A row's AUROCs: coloured from one half (a coin) to one, the best in bold."""
    best = max(round(value, 2) for value in values.values())
    cells = []
    for value in values.values():
        strength = round(200 * abs(value - 0.5) ** 1.5 / 0.5**1.5) / 4  # per cent of colour, at most 50
        mark = " class=best" if round(value, 2) == best else ""
        tone = "good" if value >= 0.5 else "bad"
        mixed = f"color-mix(in srgb, var(--{tone}) {strength:g}%, transparent)"
        cells.append(f'<td{mark} style="background:{mixed}">{value:.2f}</td>')
    return "".join(cells)
