"""From decisions to what clients read: numbers, and a verdict in words."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fastapi import Response

from dissensus.report.gate_summary import share
from dissensus.serve.refusals import clear

if TYPE_CHECKING:
    from dissensus.detector.asking import Decisions
    from dissensus.serve.served import Served

__all__ = ["JsonAnswer", "decision", "results"]


class JsonAnswer(Response):
    """JSON values, as the standard has them."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The bytes; what JSON cannot say is an error here and not at the client."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")


def results(
    served: Served,
    names: Sequence[str | int],
    problems: Mapping[int, str],
    notes: Mapping[int, Sequence[str]],
    decisions: Decisions | None,
) -> list[dict[str, Any]]:
    """One result an input, in order: its decision, or why it has none, and what no training input had."""
    decided = iter(()) if decisions is None else zip(*(part.tolist() for part in decisions), strict=True)
    found: list[dict[str, Any]] = []
    for number, name in enumerate(names):
        if number in problems:
            empty = {"score": None, "p_value": None, "flagged": None, "verdict": None}
            found.append({"input": name, **empty, "error": problems[number], "notes": []})
        else:
            said = [clear(note) for note in notes.get(number, ())]
            found.append({"input": name, **decision(served, *next(decided)), "error": None, "notes": said})
    return found


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
            f"Unlike the training data: at most {often} of inputs like it score as high, and {share(rate)} "
            "are flagged."
        )
    return f"Like the training data: about {often} of inputs like it score as high or higher."
