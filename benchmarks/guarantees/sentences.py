"""The record of the guarantees in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["guarantee_sentences"]


def guarantee_sentences(record: Mapping[str, Any]) -> list[str]:
    """One sentence a guarantee; what was not kept says so."""
    sentences = []
    for found in record["false_alarms"]:
        sentences.append(
            f"False alarms at {found['rate']:.0%}: in {found['inside']:.1%} of {record['splits']} splits the "
            f"realised rate lay between {found['low']:.1%} and {found['high']:.1%}, stated is "
            f"{found['stated']:.1%}; with the detector's own calibration set it is {found['undivided']:.1%}"
            + _verdict(found)
        )
    for found in record["discoveries"]:
        sentences.append(
            f"False discoveries at {found['target']:.0%}: {found['realised']:.1%} ± "
            f"{2 * found['standard_error']:.1%} of those flagged were normal, and {found['power']:.0%} of "
            "the outliers were flagged" + _verdict(found)
        )
    streams, batches = record["streams"], record["batches"]
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


def _verdict(found: Mapping[str, Any]) -> str:
    return "." if found["kept"] else ": NOT KEPT."
