"""An explanation as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus.errors import SettingsError
from dissensus.unusual import decided

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dissensus.explain.explanation import Explanation

__all__ = ["figure_of"]

SHOWN = 10  # columns
NEAREST = 3  # training inputs
STRANGE = "#d9730d"


def figure_of(e: Explanation) -> Figure:
    """Return the picture beside where draws disagree and its nearest training inputs, or a row's columns."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise SettingsError("a plot needs matplotlib: pip install 'dissensus[report]'") from None
    count = 2 + min(NEAREST, len(e.neighbours)) if e.pictured else 1
    figure = Figure(figsize=(2.4 * count, 2.8) if e.pictured else (6.4, 3.6), layout="constrained")
    axes = figure.subplots(1, count, squeeze=False)[0].tolist()
    if e.pictured:
        _draw_pictures(e, axes)
    else:
        _draw_columns(e, axes[0])
    figure.suptitle(decided(e.decision.p_value, flagged=e.decision.flagged), fontsize=10)
    return figure


def _draw_pictures(e: Explanation, axes: list[Any]) -> None:
    titles = ["the input", "where draws disagree", *["nearest in training"] * NEAREST]
    pictures = [e.input, e.input, *e.neighbours[:NEAREST]]
    most = 255 if e.input.dtype == np.uint8 else 1
    for place, (own, picture, title) in enumerate(zip(axes, pictures, titles, strict=False)):
        pixels = picture[..., 0] if picture.shape[-1] == 1 else picture
        own.imshow(pixels, cmap="gray", vmin=0, vmax=most)
        if place == 1:
            glow = e.disagreement / max(float(e.disagreement.max()), 1e-12)
            own.imshow(np.ones_like(glow), cmap="autumn", vmin=0, vmax=2, alpha=glow)
        own.set_title(title, fontsize=9)
        own.set_axis_off()


def _draw_columns(e: Explanation, axes: Any) -> None:
    if e.cells:
        shown = [(f"{cell.column} = {cell.value}", cell.nats) for cell in e.cells[:SHOWN]]
    else:
        names = [f"column {n}" for n in range(len(e.input))] if e.columns is None else e.columns
        shown = [
            (f"{names[place]} = {float(e.input[place]):.4g}", float(e.disagreement[place]))
            for place in e.ranking[:SHOWN].tolist()
        ]
    texts, nats = zip(*reversed(shown), strict=True)
    axes.barh(texts, nats, color=STRANGE)
    axes.set_xlabel("how much less unusual it would be without it, in nats")
    axes.spines[["top", "right"]].set_visible(False)
