"""The figure: a line for each question, with what is lost as visible as what is won."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.decimals import short
from benchmarks.drawing import new_figure
from benchmarks.standing.lines import Line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_standing"]

WON, LOST = "#1b7f4d", "#c0392b"
CLOSE = 0.0005  # in the third digit they are the same


def draw_standing(lines: Sequence[Line]) -> Figure:
    """Ours as a dot, green where it is ahead of the best simple baseline and red where it is behind."""
    figure, axes = new_figure(1, 1, (9.5, 0.42 * len(lines) + 1.9))
    for y, line in enumerate(lines):
        ahead = line.ours - line.baseline.value
        colour = WON if ahead > CLOSE else LOST if ahead < -CLOSE else "black"
        axes.plot([line.baseline.value, line.ours], [y, y], color=colour, lw=2.5, zorder=1)
        axes.scatter(line.baseline.value, y, marker="s", s=42, color="#7f8c8d", zorder=2)
        axes.scatter(line.ours, y, s=64, color=colour, zorder=3)
        if line.published is not None:
            axes.scatter(line.published.value, y, marker="*", s=110, color="#e0a100", zorder=4)
        axes.annotate(
            f"{ahead:+.3f}".replace("-", "−").replace("0.", "."),
            (1.0, y),
            xycoords=("axes fraction", "data"),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize=9,
        )
    axes.set_yticks(
        np.arange(len(lines)),
        [
            f"{line.title}\n{line.baseline.name}: {short(line.baseline.value)}, ours {short(line.ours)}"
            for line in lines
        ],
        fontsize=8,
    )
    for y, (before, after) in enumerate(pairwise(lines)):
        if before.group != after.group:
            axes.axhline(y + 0.5, color="#bbbbbb", lw=0.8)
    starts = [y for y, line in enumerate(lines) if y == 0 or lines[y - 1].group != line.group]
    for y in starts:
        axes.annotate(
            lines[y].group,
            (0.0, y - 0.42),
            xycoords=("axes fraction", "data"),
            xytext=(4, -2),
            textcoords="offset points",
            va="top",
            fontsize=8,
            color="#555555",
            style="italic",
        )
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.set_xlabel("AUROC (.5 is chance, 1 is perfect)")
    for name, marker, colour in (
        ("ours, ahead", "o", WON),
        ("ours, behind", "o", LOST),
        ("best simple baseline of the question", "s", "#7f8c8d"),
        ("best published that we know of", "*", "#e0a100"),
    ):
        axes.scatter([], [], marker=marker, color=colour, label=name)
    figure.legend(loc="outside upper center", ncols=4, fontsize=8, frameon=False)
    return figure
