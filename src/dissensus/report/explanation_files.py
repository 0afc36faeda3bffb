"""One input's explanation as files: JSON for programs, pictures for people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus.report.pictures import heat_map, picture

if TYPE_CHECKING:
    from dissensus.explain import Explanation

__all__ = ["explanation_files"]


def explanation_files(explanation: Explanation, more: Mapping[str, Any]) -> dict[str, bytes]:
    """Content by file name: ``explanation.json``, and for an image PNGs of what the numbers are about.

    ``more`` is added to the JSON object.
    """
    record = {**more, **explanation.to_dict()}
    files = {"explanation.json": json.dumps(record, indent=2, ensure_ascii=False).encode() + b"\n"}
    if not explanation.pictured:
        return files
    glow = max(float(np.quantile(explanation.disagreement, 0.998)), np.finfo(float).tiny)
    files["input.png"] = picture(explanation.input)
    files["disagreement.png"] = heat_map(explanation.input, explanation.disagreement, glow)
    for kind, images in (("draw", explanation.reconstructions), ("neighbour", explanation.neighbours)):
        files |= {f"{kind}-{number}.png": picture(image) for number, image in enumerate(images, start=1)}
    return files
