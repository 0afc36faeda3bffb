"""The record of the guarantees in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.guarantees.measure import BATCHES, DISCOVERIES, FALSE_ALARMS, STREAMS
from benchmarks.records import Record
from benchmarks.rows import by_part

__all__ = ["guarantee_sentences", "of_kind"]


def guarantee_sentences(record: Record) -> list[str]:
    """One sentence a guarantee; what was not kept says so."""
    sentences = []
    parts, splits = by_part(record), record.settings["splits"]
    for found in of_kind(parts, FALSE_ALARMS):
        sentences.append(
            f"False alarms at {found['rate']:.0%}: in {found['inside']:.1%} of {splits} splits the "
            f"realised rate lay between {found['low']:.1%} and {found['high']:.1%}, stated is "
            f"{found['stated']:.1%}; with the detector's own calibration set it is {found['undivided']:.1%}"
            + _verdict(found)
        )
    for found in of_kind(parts, DISCOVERIES):
        sentences.append(
            f"False discoveries at {found['target']:.0%}: {found['realised']:.1%} ± "
            f"{2 * found['standard_error']:.1%} of those flagged were normal, and {found['power']:.0%} of "
            "the outliers were flagged" + _verdict(found)
        )
    streams, batches = parts[STREAMS], parts[BATCHES]
    delay = (
        ""
        if streams["median_delay"] is None
        else f", half of them within {streams['median_delay']:.0f} inputs"
    )
    sentences.append(
        f"Streams: {streams['false_alarms']:.1%} without drift raised the alarm, allowed are "
        f"{streams['delta']:.0%}; {streams['detected']:.0%} with {streams['drift_share']:.0%} outliers from "
        f"input {streams['drift_from']} on did{delay}" + _verdict(streams)
    )
    sentences.append(
        f"Batches of {batches['size']}: {batches['rejected']['normal']:.1%} of the normal ones were "
        f"rejected, allowed are {batches['level']:.0%}; {batches['rejected']['strange']:.0%} of those with "
        f"{batches['strange_share']:.0%} outliers were" + _verdict(batches)
    )
    return sentences


def of_kind(parts: Mapping[str, Mapping[str, Any]], kind: str) -> list[Mapping[str, Any]]:
    """The parts of one guarantee, by the rate that was asked for."""
    return [part for name, part in parts.items() if name.startswith(kind)]


def _verdict(found: Mapping[str, Any]) -> str:
    return "." if found["kept"] else ": NOT KEPT."
