"""Single inputs with the reasons for their scores, as what a page shows of them: pictures, or columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dissensus.report.gate_summary import MEANINGS, case_sentences, label
from dissensus.report.pictures import data_uri, heat_map, picture

if TYPE_CHECKING:
    from dissensus.explain import Explanation
    from dissensus.inspection import Case

__all__ = ["Card", "case_cards", "full_glow"]

COLUMNS_SHOWN = 6  # of a table's row, those with the largest disagreement
RANGE = "{:.4g} – {:.4g}"


class Bar(NamedTuple):
    """A bar from ``left`` on, both in per cent of the whole."""

    left: str
    width: str


class Standing(NamedTuple):
    """One statistic among those of the calibration inputs."""

    name: str
    meaning: str
    percentile: str
    bar: Bar


class Pictures(NamedTuple):
    """Pictures under one title, as addresses that hold them; ``alt`` is for those who cannot see them."""

    title: str
    alt: str
    pictures: list[str]


class Column(NamedTuple):
    """A column of a row, with what draws and the nearest training inputs say instead."""

    name: str
    value: str
    nats: str
    bar: Bar
    expected: str
    nearest: str


class Card(NamedTuple):
    """What a page shows of one input."""

    name: str
    flagged: bool
    sentences: list[str]
    pictures: list[Pictures]
    """None for a row."""
    columns: list[Column]
    """None for a picture."""
    more_columns: int
    expected: bool
    """Whether any draw says what it expects in a column: flows do not."""
    numbers: str
    """The score and what carries it, for those who ask."""
    standings: list[Standing]


def full_glow(cases: Sequence[Case]) -> float:
    """The disagreement, in nats, at which a map glows fully: the same for all, so that they compare."""
    maps = [case.explanation.disagreement for case in cases if case.explanation.pictured]
    return max((float(np.quantile(found, 0.998)) for found in maps), default=1.0)


def case_cards(cases: Sequence[Case], *, glow: float) -> list[Card]:
    """A card for each input."""
    return [_card(case, glow) for case in cases]


def _card(case: Case, glow: float) -> Card:
    e = case.explanation
    columns = [] if e.pictured else _columns(e)
    standings = _standings(e)
    return Card(
        name=label(case.name),
        flagged=e.decision.flagged,
        sentences=case_sentences(case),
        pictures=_pictures(case, glow) if e.pictured else [],
        columns=columns,
        more_columns=0 if e.pictured else len(e.cells or e.input) - len(columns),
        expected=len(e.reconstructions) > 0,
        numbers=_numbers(e),
        standings=standings,
    )


def _pictures(case: Case, glow: float) -> list[Pictures]:
    e, name = case.explanation, label(case.name)
    row, column = np.unravel_index(e.ranking[0], e.disagreement.shape)
    groups = [
        ("the input", f"the input {name}", [picture(e.input)]),
        (
            "where draws disagree",
            f"where the draws disagree about {name}: largest at row {row}, column {column}",
            [heat_map(e.input, e.disagreement, glow)],
        ),
        ("as draws see it", f"{name} as one draw sees it", [picture(seen) for seen in e.reconstructions]),
        (
            "nearest in training",
            f"a training input close to {name}",
            [picture(near) for near in e.neighbours],
        ),
    ]
    return [Pictures(title, alt, [data_uri(png) for png in shown]) for title, alt, shown in groups if shown]


def _columns(e: Explanation) -> list[Column]:
    """The columns about which the draws disagree most, with what they and the nearest inputs say instead."""
    whole = max(float(e.disagreement.max()), 1e-12)
    if e.cells:
        return [
            Column(c.column, c.value, f"{c.nats:.2g}", _bar(100 * c.nats / whole), c.expected, c.nearest)
            for c in e.cells[:COLUMNS_SHOWN]
        ]
    found = []
    for place in e.ranking[:COLUMNS_SHOWN].tolist():
        nats = float(e.disagreement[place])
        found.append(
            Column(
                name=f"column {place}" if e.columns is None else e.columns[place],
                value=f"{float(e.input[place]):.4g}",
                nats=f"{nats:.2g}",
                bar=_bar(100 * nats / whole),
                expected=_range(e.reconstructions[:, place]),
                nearest=_range(e.neighbours[:, place]),
            )
        )
    return found


def _numbers(e: Explanation) -> str:
    """The decision in numbers, and −log p of what carries it."""
    score, p_value, _ = e.decision
    told = "; ".join(f"{name} {nats:.1f}" for name, nats in list(e.surprises.items())[:COLUMNS_SHOWN])
    carried = f" Surprise in nats, −log p of each statistic by itself: {told}." if told else ""
    return f"Score {score:.4g}, p-value {p_value:.2g}.{carried}"


def _range(values: NDArray[Any]) -> str:
    return RANGE.format(float(values.min()), float(values.max())) if len(values) else "–"


def _standings(e: Explanation) -> list[Standing]:
    """The detector's own statistic, then those that are unusual by themselves, then the rest."""
    known = [name for name, s in e.statistics.items() if not math.isnan(s.percentile)]
    ordered = dict.fromkeys([*known[:1], *(name for name in e.surprises if name in known), *known])
    middle = 50.0 if e.surprises else 0.0  # a fused score looks to both sides of it
    return [
        Standing(name, MEANINGS.get(name, name), _percentile(percentile), _bar(percentile, middle))
        for name, percentile in ((name, e.statistics[name].percentile) for name in ordered)
    ]


def _percentile(value: float) -> str:
    """Never rounded up to what is not true: 100 is said only of what lies above all calibration inputs."""
    return "100" if value == 100 else f"{min(value, 99.9):.1f}" if value > 99 else f"{value:.0f}"


def _bar(percent: float, start: float = 0.0) -> Bar:
    end = min(max(percent, 0.0), 100.0)
    return Bar(f"{min(start, end):.1f}", f"{abs(end - start):.1f}")
