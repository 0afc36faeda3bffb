"""The demonstration's figure: two histograms and rows of pictures."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import SettingsError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DemoFigure", "Theme", "draw_demo", "require_matplotlib"]

Theme: TypeAlias = Literal["light", "dark"]
# Blue and orange stay apart for every kind of colour vision.
PALETTE = {
    "light": {
        "ground": "#ffffff",
        "ink": "#1c2733",
        "faint": "#8593a1",
        "normal": "#2b6cb0",
        "strange": "#d9730d",
    },
    "dark": {
        "ground": "#161b22",
        "ink": "#e6edf3",
        "faint": "#7d8b99",
        "normal": "#63a4e8",
        "strange": "#f0994a",
    },
}


@dataclass(frozen=True)
class DemoFigure:
    """What the demonstration's figure shows; ``normal`` and ``strange`` name the two groups."""

    normal: str
    strange: str
    log_likelihood: tuple[NDArray[np.float64], NDArray[np.float64]]
    """Mean over draws, of the normal (n,) and of the strange (m,)."""
    disagreement: tuple[NDArray[np.float64], NDArray[np.float64]]
    """Positive scores, of the normal (n,) and of the strange (m,)."""
    disagreement_name: str
    threshold: float | None
    auroc: tuple[float, float]
    """Of the log-likelihood and of the disagreement."""
    strips: Mapping[str, NDArray[np.uint8]]
    """Rows of images (k, H, W) by title, all of one length k."""


def require_matplotlib() -> None:
    """Refuses at once where the figure could not be drawn."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise SettingsError("the report needs matplotlib: pip install 'dissensus[report]'") from None


def draw_demo(content: DemoFigure, theme: Theme = "light") -> bytes:
    """Draw the demonstration's figure, and return it as PNG bytes."""
    require_matplotlib()
    from matplotlib.figure import Figure

    colours = PALETTE[theme]
    figure = Figure(figsize=(9, 5.9), dpi=150, facecolor=colours["ground"], layout="constrained")
    grid = figure.add_gridspec(2, 1, height_ratios=[1.15, 1])
    top, bottom = figure.add_subfigure(grid[0]), figure.add_subfigure(grid[1])
    left, right = top.subplots(1, 2)
    _histogram(left, content, content.log_likelihood, colours, log=False)
    heading: dict[str, Any] = {
        "loc": "left",
        "fontweight": "bold",
        "fontsize": 11,
        "color": colours["ink"],
        "pad": 10,
    }
    left.set_title(f"plain log-likelihood: AUROC {content.auroc[0]:.2f}", **heading)
    left.set_xlabel("log p(x), nats; lower should be stranger")
    _histogram(right, content, content.disagreement, colours, log=True)
    right.set_title(f"{content.disagreement_name}: AUROC {content.auroc[1]:.2f}", **heading)
    right.set_xlabel("score; higher is stranger")
    if content.threshold is not None:
        right.axvline(content.threshold, color=colours["ink"], linewidth=1.2, linestyle=(0, (4, 3)))
        right.annotate(
            "flagged ▸",
            (content.threshold, 0.97),
            xycoords=("data", "axes fraction"),
            xytext=(4, 0),
            textcoords="offset points",
            va="top",
            fontsize=9,
            color=colours["ink"],
        )
    # Named, or matplotlib warns of the time it takes to find the place on a busy machine.
    left.legend(loc="best", frameon=False, labelcolor=colours["ink"], fontsize=9)
    _strips(bottom, content.strips, colours)
    buffer = io.BytesIO()
    # Without the metadata the bytes depend on the numbers alone.
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def _histogram(
    axes: Axes,
    content: DemoFigure,
    values: tuple[NDArray[np.float64], NDArray[np.float64]],
    colours: Mapping[str, str],
    *,
    log: bool,
) -> None:
    together = np.concatenate(values)
    low, high = np.quantile(together, [0.0, 0.995])
    if log:
        low, high = max(low, high * 1e-4, 1e-12), max(high, 1e-11)
        bins = np.geomspace(low, high * 1.05, 41)
        axes.set_xscale("log")
    else:
        bins = np.linspace(low, high + 1e-9, 41)
    groups = zip((content.normal, content.strange), ("normal", "strange"), values, strict=True)
    for label, colour, scores in groups:
        # What lies beyond the edges is counted in the outermost bars.
        inside = np.clip(scores, bins[0], bins[-1])
        weights = np.full(len(scores), 1 / len(scores))
        axes.hist(inside, bins=bins.tolist(), weights=weights, color=colours[colour], alpha=0.62, label=label)
    axes.set_ylim(top=axes.get_ylim()[1] * 1.12)  # room for what is written above the bars
    _plain(axes, colours)
    axes.set_ylabel("share")


def _plain(axes: Axes, colours: Mapping[str, str]) -> None:
    axes.set_facecolor(colours["ground"])
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(colours["faint"])
    axes.tick_params(which="both", colors=colours["faint"], labelsize=8)
    for text in (axes.xaxis.label, axes.yaxis.label):
        text.set_color(colours["ink"])
        text.set_fontsize(9)


def _strips(part: Any, strips: Mapping[str, NDArray[np.uint8]], colours: Mapping[str, str]) -> None:
    rows = part.subplots(len(strips), 1)
    for axes, (title, images) in zip(np.atleast_1d(rows), strips.items(), strict=True):
        row = np.concatenate([np.pad(image, ((0, 0), (0, 2)), constant_values=0) for image in images], axis=1)
        axes.imshow(row, cmap="gray", vmin=0, vmax=255, aspect="equal", interpolation="nearest")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_ylabel(title, rotation=0, ha="right", va="center", fontsize=9, color=colours["ink"])
        for spine in axes.spines.values():
            spine.set_visible(False)
