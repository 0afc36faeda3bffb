"""Single inputs with the reasons for their scores, as HTML: pictures for images, a table for rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dissensus.report.document import data_uri, items
from dissensus.report.gate_summary import MEANINGS, case_sentences, label
from dissensus.report.pictures import heat_map, picture

if TYPE_CHECKING:
    from dissensus.explain import Explanation
    from dissensus.inspection import Case

__all__ = ["case_cards", "full_glow"]

COLUMNS_SHOWN = 6  # of a table's row, those with the largest disagreement
STATISTICS_SHOWN = 8
RANGE = "{:.4g} – {:.4g}"


def full_glow(cases: Sequence[Case]) -> float:
    """The disagreement, in nats, at which a map glows fully: the same for all, so that they compare."""
    maps = [case.explanation.disagreement for case in cases if case.explanation.pictured]
    return max((float(np.quantile(found, 0.998)) for found in maps), default=1.0)


def case_cards(cases: Sequence[Case], *, glow: float) -> str:
    """A card for each input."""
    kind = "pictured" if any(case.explanation.pictured for case in cases) else "tabled"
    cards = "\n".join(_card(case, glow) for case in cases)
    return f'<div class="cards {kind}">\n{cards}\n</div>'


def _card(case: Case, glow: float) -> str:
    explanation = case.explanation
    mark = " flagged" if explanation.decision.flagged else ""
    evidence = _pictures(case, glow) if explanation.pictured else _columns(explanation)
    return (
        f'<article class="card{mark}"><h3>{escape(label(case.name))}</h3>\n{evidence}\n'
        f"<ul>{items(case_sentences(case))}</ul>\n{_standings(explanation)}</article>"
    )


def _pictures(case: Case, glow: float) -> str:
    e, name = case.explanation, escape(label(case.name))
    rows, columns = np.unravel_index(e.ranking[0], e.disagreement.shape)
    where = f"largest at row {rows}, column {columns}"
    parts = [
        ("the input", [picture(e.input)], f"the input {name}"),
        (
            "where draws disagree",
            [heat_map(e.input, e.disagreement, glow)],
            f"where the draws disagree about {name}: {where}",
        ),
        ("as draws see it", [picture(seen) for seen in e.reconstructions], f"{name} as one draw sees it"),
        (
            "nearest in training",
            [picture(near) for near in e.neighbours],
            f"a training input close to {name}",
        ),
    ]
    return '<div class="pictures">' + "".join(_group(*part) for part in parts if part[1]) + "</div>"


def _group(title: str, pictures: Sequence[bytes], alt: str) -> str:
    images = "".join(f'<img alt="{alt}" src="{data_uri(png)}">' for png in pictures)
    return f"<figure><div>{images}</div><figcaption>{title}</figcaption></figure>"


def _columns(e: Explanation) -> str:
    """The columns about which the draws disagree most, with what they and the nearest inputs say instead."""
    whole = max(float(e.disagreement.max()), 1e-12)
    rows = []
    for column in e.ranking[:COLUMNS_SHOWN].tolist():
        nats = float(e.disagreement[column])
        name = f"column {column}" if e.columns is None else e.columns[column]
        rows.append(
            f"<tr><th scope=row>{escape(name)}</th><td>{float(e.input[column]):.4g}</td>"
            f"<td>{_bar(100 * nats / whole)} {nats:.2g}</td>"
            f"<td>{_range(e.reconstructions[:, column])}</td><td>{_range(e.neighbours[:, column])}</td></tr>"
        )
    more = len(e.input) - len(rows)
    rest = f'<p class="faint">and {more} more columns with less.</p>' if more > 0 else ""
    return (
        '<div class="scroll"><table><thead><tr><th scope=col>column</th><th scope=col>value</th>'
        "<th scope=col>disagreement, nats</th><th scope=col>draws expect</th>"
        "<th scope=col>nearest in training</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>{rest}"
    )


def _range(values: NDArray[Any]) -> str:
    return RANGE.format(float(values.min()), float(values.max())) if len(values) else "–"


def _standings(e: Explanation) -> str:
    """The detector's own statistic, then those that are unusual by themselves; the rest folded away."""
    known = [name for name, s in e.statistics.items() if not math.isnan(s.percentile)]
    ordered = list(dict.fromkeys([*known[:1], *(name for name in e.surprises if name in known), *known]))
    first, rest = ordered[:STATISTICS_SHOWN], ordered[STATISTICS_SHOWN:]
    folded = f"<details><summary>{len(rest)} more</summary>{_bars(e, rest)}</details>" if rest else ""
    return _bars(e, first) + folded


def _bars(e: Explanation, names: Sequence[str]) -> str:
    standings = [(name, e.statistics[name].percentile) for name in names]
    middle = 50.0 if e.surprises else 0.0  # a fused score looks to both sides of it
    rows = "".join(
        f'<li title="{escape(MEANINGS.get(name, name))}"><span>{escape(name)}</span>'
        f"{_bar(percentile, middle)}<span>{_percentile(percentile)}</span></li>"
        for name, percentile in standings
    )
    return f'<ul class="standings" aria-label="percentiles among calibration inputs">{rows}</ul>'


def _percentile(value: float) -> str:
    """Never rounded up to what is not true: 100 is said only of what lies above all calibration inputs."""
    return "100" if value == 100 else f"{min(value, 99.9):.1f}" if value > 99 else f"{value:.0f}"


def _bar(percent: float, start: float = 0.0) -> str:
    end = min(max(percent, 0.0), 100.0)
    style = f"margin-left:{min(start, end):.1f}%;width:{abs(end - start):.1f}%"
    return f'<i class="bar"><b style="{style}"></b></i>'
