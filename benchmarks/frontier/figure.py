"""The figure of the frontier: mean AUROC on selection sets against what an image costs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.drawing import new_figure, save_figure
from benchmarks.frontier.points import CALLED
from benchmarks.frontier.summary import MARGIN, Summary, knee, pareto

__all__ = ["draw_frontier"]

FRONT, OTHER, KNEE = "#2b6cb0", "#8593a1", "#d9730d"
SHOWN = (50, 100, 200, 500, 1000, 2000, 5000, 10_000)  # milliseconds


def draw_frontier(points: Sequence[Summary], path: Path) -> Path:
    """Writes the figure: every point, the front that none beats, and its knee."""
    figure, axes = new_figure(1, 1, (7.6, 4.6))
    front, chosen = pareto(points), knee(points)
    whole = max(points, key=lambda each: each.decodings)
    efforts = {point: effort for effort, point in CALLED.items()}
    axes.axhspan(whole.mean - MARGIN, 1.0, color=FRONT, alpha=0.06, lw=0)
    axes.plot([each.batch for each in front], [each.mean for each in front], color=FRONT, lw=1.2, zorder=1)
    for each in points:
        colour = KNEE if each == chosen else FRONT if each in front else OTHER
        axes.scatter(each.batch, each.mean, color=colour, s=26, zorder=2)
        if each.name in efforts:
            axes.annotate(
                f"{efforts[each.name]}: {each.name}",
                (each.batch, each.mean),
                xytext=(8, -4),
                textcoords="offset points",
                fontsize=8.5,
                fontweight="bold",
            )
        elif each in front:
            where = (each.batch, each.mean)
            above = 7 + 11 * (front.index(each) % 2)  # neighbours' names do not meet
            axes.annotate(each.name, where, xytext=(-4, above), textcoords="offset points", fontsize=8)
    low, top = (choose(each.mean for each in points) for choose in (min, max))
    axes.set_ylim(low - 0.15 * (top - low), top + 0.2 * (top - low))
    axes.set_xscale("log")
    costs = [each.batch for each in points]
    axes.set_xlim(0.8 * min(costs), 6 * max(costs))  # room for the last one's name
    shown = [cost for cost in SHOWN if min(costs) * 0.8 <= cost <= 6 * max(costs)]
    axes.set_xticks(shown, [f"{cost:,}" for cost in shown], minor=False)
    axes.minorticks_off()
    axes.set_xlabel("milliseconds for 128 images of 28×28 on two busy cores")
    axes.set_ylabel("mean AUROC on selection sets")
    axes.set_title(
        f"What an operating point finds and costs; shaded: no more than {MARGIN} below thorough",
        fontsize=9.5,
    )
    return save_figure(figure, path)
