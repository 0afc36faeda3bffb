"""The lists of a gate's report: every flagged input, in pages, and every column with how far it has moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dissensus.report.gate_summary import label

if TYPE_CHECKING:
    from dissensus.inspection import Assessment, Flagged

__all__ = ["Listing", "flagged_listing", "moved_columns"]

ON_A_PAGE = 100
MOST_LISTED = 2000


class ListedInput(NamedTuple):
    """One flagged input, in words."""

    name: str
    p_value: str
    score: str
    notes: str


class Page(NamedTuple):
    """Some of the flagged inputs, under a title that says which."""

    title: str
    rows: list[ListedInput]


class Listing(NamedTuple):
    """The flagged inputs, the most unusual first."""

    pages: list[Page]
    noted: bool
    """Whether there is something to note of any."""
    more: int
    """How many the page leaves to the record."""
    record: str | None
    """The record's name, beside the page; None if there is none."""


class MovedColumn(NamedTuple):
    """One column, in words."""

    name: str
    moved: bool
    distance: str
    bar: str
    p_value: str
    before: str
    now: str


def flagged_listing(a: Assessment, record: str | None) -> Listing:
    """Return every flagged input, by p-value and score, up to two thousand; the record has all."""
    ordered = sorted(a.flagged_inputs, key=lambda found: (found.p_value, -found.score, found.position))
    listed = [_listed(found) for found in ordered[:MOST_LISTED]]
    starts = range(0, len(listed), ON_A_PAGE)
    parts = [listed[start : start + ON_A_PAGE] for start in starts]
    pages = [
        Page(f"{start + 1:,} to {start + len(part):,} of {len(ordered):,}", part)
        for start, part in zip(starts, parts, strict=True)
    ]
    noted = any(found.notes for found in listed)
    return Listing(pages, noted, len(ordered) - len(listed), record)


def moved_columns(a: Assessment) -> list[MovedColumn]:
    """Return the columns with how far they have moved, those that have before all others."""
    return [
        MovedColumn(
            shift.column,
            shift.moved,
            f"{shift.distance:.2f}",
            f"{100 * shift.distance:.1f}",
            f"{shift.p_value:.2g}",
            shift.before,
            shift.now,
        )
        for shift in a.columns
    ]


def _listed(found: Flagged) -> ListedInput:
    return ListedInput(
        label(found.name), f"{found.p_value:.2g}", f"{found.score:.4g}", "; ".join(found.notes)
    )
