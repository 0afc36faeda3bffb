"""From decisions to what clients read: numbers, and a verdict in words."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fastapi import Response

from dissensus.report.gate_summary import share
from dissensus.serve.refusals import clear

if TYPE_CHECKING:
    from dissensus.detector.asking import Decisions
    from dissensus.serve.sent import Sent
    from dissensus.serve.served import Served

__all__ = ["JsonAnswer", "decision", "results"]

NO_DECISION = {"score": None, "p_value": None, "flagged": None, "verdict": None}


class JsonAnswer(Response):
    """JSON values, as the standard has them."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The bytes; what JSON cannot say is an error here and not at the client."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")


def results(
    served: Served, sent: Sent, decisions: Decisions | None, known: Sequence[str | None]
) -> list[dict[str, Any]]:
    """One result an input, in order: its decision, or why it has none, and what is new or known about it."""
    told, decided = iter(known), _each(served, decisions)
    return [
        {"input": name, **NO_DECISION, "error": sent.problems[place], "notes": [], "known": None}
        if place in sent.problems
        else {
            "input": name,
            **next(decided),
            "error": None,
            "notes": [clear(note) for note in sent.notes.get(place, ())],
            "known": next(told),
        }
        for place, name in enumerate(sent.names)
    ]


def _each(served: Served, decisions: Decisions | None) -> Iterator[dict[str, Any]]:
    if decisions is not None:
        for one in zip(*(part.tolist() for part in decisions), strict=True):
            yield decision(served, *one)


def decision(served: Served, score: float, p_value: float, flagged: bool) -> dict[str, Any]:
    """A decision as JSON values; an infinite score is None."""
    return {
        "score": score if math.isfinite(score) else None,
        "p_value": p_value,
        "flagged": flagged,
        "verdict": _verdict(served, p_value, flagged),
    }


def _verdict(served: Served, p_value: float, flagged: bool) -> str:
    rate = served.gate.false_alarm_rate
    often = share(p_value)
    if flagged:
        return (
            f"Unlike the training data: at most {often} of normal inputs score as high (flagged at "
            f"{share(rate)} and less)."
        )
    return f"Like the training data: about {often} of normal inputs score as high or higher."
