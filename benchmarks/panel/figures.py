"""Heat maps of the panel, drawn from the records alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.decimals import short
from benchmarks.drawing import new_figure, quick_mark, save_figure
from benchmarks.panel.configuration import RECOMMENDED
from benchmarks.panel.records import read_rows
from benchmarks.panel.sets import GROUPS
from benchmarks.panel.summary import Pair, measured_by_all, pairs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_all"]

KINDS = ("far", "near", "made-up")
BRIGHT = 0.75  # of a cell that needs dark letters


def draw_all(output: Path, *, quick: bool) -> Iterator[Path]:
    """A map of scores by outliers for each in-distribution set and posterior, and one of all posteriors."""
    rows = [row for row, _, _ in read_rows(output, "records", quick=quick)]
    found: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in pairs(rows):
        group = next((name for name, members in GROUPS.items() if pair.inliers in members), pair.inliers)
        found[group, pair.posterior].append(pair)
    for (inliers, posterior), own in found.items():
        title = f"{inliers}, {posterior}: AUROC{quick_mark(quick)}"
        yield save_figure(_scores_map(title, own), output / "figures" / f"scores-{inliers}-{posterior}.png")
    under = pairs([row for row in measured_by_all(rows) if row.score == RECOMMENDED.score], grouped=True)
    if len({pair.posterior for pair in under}) > 1:
        cells = {(pair.title, pair.posterior): pair.auroc for pair in under}
        title = f"Posteriors under {RECOMMENDED.score}: AUROC{quick_mark(quick)}"
        yield save_figure(_heat_map(title, cells), output / "figures" / "posteriors.png")


def _scores_map(title: str, own: Sequence[Pair]) -> Figure:
    """Scores, the best mean first, by outliers, which are put together by kind."""
    by_score: dict[str, list[float]] = defaultdict(list)
    for pair in own:
        by_score[pair.score].append(pair.auroc)
    best = sorted(by_score, key=lambda score: -fmean(by_score[score]))
    own = sorted(own, key=lambda pair: (best.index(pair.score), KINDS.index(pair.kind)))
    kinds = {pair.outliers: pair.kind for pair in own}
    figure = _heat_map(title, {(pair.score, pair.outliers): pair.auroc for pair in own})
    axes = figure.axes[0]
    places = [KINDS.index(kind) for kind in kinds.values()]
    for border in np.flatnonzero(np.diff(places)):
        axes.axvline(border + 0.5, color="white", linewidth=4)
    for kind in dict.fromkeys(kinds.values()):
        own_columns = [number for number, each in enumerate(kinds.values()) if each == kind]
        axes.text(fmean(own_columns), len(best) - 0.3, kind, ha="center", va="top", style="italic")
    return figure


def _heat_map(title: str, cells: Mapping[tuple[str, str], float]) -> Figure:
    """Numbers by row and column, both in the order they come; chance and worse is the darkest."""
    rows, columns = (list(dict.fromkeys(key[axis] for key in cells)) for axis in (0, 1))
    values = np.array([[cells.get((row, column), np.nan) for column in columns] for row in rows])
    figure, axes = new_figure(1, 1, (0.62 * len(columns) + 3.2, 0.27 * len(rows) + 2.0))
    image = axes.imshow(values, cmap="cividis", vmin=0.5, vmax=1.0, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            colour = "black" if value > BRIGHT else "white"
            axes.text(column, row, short(value), ha="center", va="center", color=colour, fontsize=7)
    axes.set_xticks(range(len(columns)), columns, rotation=40, ha="left", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), rows)
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=8)
    axes.grid(False)
    axes.spines[:].set_visible(False)
    figure.colorbar(image, ax=axes, fraction=0.03, extend="min")
    figure.suptitle(title)
    return figure
