"""An explanation as JSON values: pictures for images, columns for rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus.report.gate_summary import MEANINGS
from dissensus.report.pictures import data_uri, heat_map, picture
from dissensus.serve.answers import decision

if TYPE_CHECKING:
    from dissensus.explain import Explanation
    from dissensus.serve.served import Served

__all__ = ["explained"]

GLOWING = 0.998  # of the pixels glow less than fully


def explained(served: Served, found: Explanation) -> dict[str, Any]:
    """What ``POST /explain`` answers."""
    summary = found.to_dict()
    answer = {
        "gate": served.name,
        "decision": decision(served, *found.decision),
        "statistics": {
            name: {**standing, "meaning": MEANINGS.get(name, name)}
            for name, standing in summary["statistics"].items()
        },
        "surprises": summary["surprises"],
        "notes": summary["notes"],
        "known": found.known,
    }
    return answer | (_pictured(found, summary) if found.pictured else _in_columns(found))


def _pictured(found: Explanation, summary: dict[str, Any]) -> dict[str, Any]:
    glow = float(np.quantile(found.disagreement, GLOWING))
    return {
        "input_png": data_uri(picture(found.input)),
        "disagreement": {
            "png": data_uri(heat_map(found.input, found.disagreement, glow)),
            "largest": summary["disagreement"],
        },
        "reconstructions": [data_uri(picture(seen)) for seen in found.reconstructions],
        "nearest": [data_uri(picture(near)) for near in found.neighbours],
        "columns": None,
    }


def _in_columns(found: Explanation) -> dict[str, Any]:
    columns = _cells(found) if found.cells else _numbers(found)
    return {
        "input_png": None,
        "disagreement": {"png": None, "largest": columns[:10]},
        "reconstructions": [],
        "nearest": [],
        "columns": columns,
    }


def _cells(found: Explanation) -> list[dict[str, Any]]:
    """A table's own columns, as people wrote them."""
    whole = sum(cell.nats for cell in found.cells)
    return [cell._asdict() | _matter(cell.nats, whole) for cell in found.cells]


def _numbers(found: Explanation) -> list[dict[str, Any]]:
    whole = float(found.disagreement.sum())
    return [
        {
            "column": place if found.columns is None else found.columns[place],
            "value": float(found.input[place]),
            **_matter(float(found.disagreement[place]), whole),
            "expected": [float(seen) for seen in found.reconstructions[:, place]],
            "nearest": [float(near) for near in found.neighbours[:, place]],
        }
        for place in found.ranking.tolist()
    ]


def _matter(nats: float, whole: float) -> dict[str, Any]:
    share = nats / whole if 0 < whole < math.inf else 0.0
    return {"nats": nats if math.isfinite(nats) else None, "share": share}
