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
    }
    return answer | (_pictured(found, summary) if found.pictured else _tabled(found))


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


def _tabled(found: Explanation) -> dict[str, Any]:
    whole = float(found.disagreement.sum())
    columns = []
    for place in found.ranking.tolist():
        nats = float(found.disagreement[place])
        columns.append(
            {
                "column": place if found.columns is None else found.columns[place],
                "value": float(found.input[place]),
                "nats": nats if math.isfinite(nats) else None,
                "share": nats / whole if 0 < whole < math.inf else 0.0,
                "expected": [float(seen) for seen in found.reconstructions[:, place]],
                "nearest": [float(near) for near in found.neighbours[:, place]],
            }
        )
    return {
        "input_png": None,
        "disagreement": {"png": None, "largest": columns[:10]},
        "reconstructions": [],
        "nearest": [],
        "columns": columns,
    }
