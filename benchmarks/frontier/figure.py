"""The figure of the frontier: mean AUROC on selection sets against what an image costs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.drawing import new_figure, save_figure
from benchmarks.frontier.summary import MARGIN, Summary, knee, pareto

__all__ = ["draw_frontier"]

FRONT, OTHER, KNEE = "#2b6cb0", "#8593a1", "#d9730d"


def draw_frontier(points: Sequence[Summary], path: Path) -> Path:
    """Writes the figure: every point, the front that none beats, and its knee."""
    figure, axes = new_figure(1, 1, (7.6, 4.6))
    front, chosen = pareto(points), knee(points)
    whole = max(points, key=lambda each: each.decodings)
    axes.axhspan(whole.mean - MARGIN, 1.0, color=FRONT, alpha=0.06, lw=0)
    axes.plot([each.batch for each in front], [each.mean for each in front], color=FRONT, lw=1.2, zorder=1)
    for each in points:
        colour = KNEE if each == chosen else FRONT if each in front else OTHER
        axes.scatter(each.batch, each.mean, color=colour, s=26, zorder=2)
        if each in front or each in (whole, chosen):
            axes.annotate(
                each.name, (each.batch, each.mean), xytext=(6, -10), textcoords="offset points", fontsize=8
            )
    low = min(each.mean for each in points)
    top = max(each.mean for each in points)
    axes.set_ylim(low - 0.15 * (top - low), top + 0.2 * (top - low))
    axes.set_xscale("log")
    axes.set_xlabel("milliseconds for 128 images of 28×28 on two cores")
    axes.set_ylabel("mean AUROC on selection sets")
    axes.set_title(
        f"What an operating point finds and costs; shaded: within {MARGIN} of all draws and samples"
    )
    axes.title.set_fontsize(9.5)
    return save_figure(figure, path)
