"""Heat maps of the panel, drawn from the records alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.drawing import heat_map, quick_mark, save_figure
from benchmarks.panel.configuration import RECOMMENDED
from benchmarks.panel.rows import NO_MODEL
from benchmarks.panel.sets import GROUPS
from benchmarks.panel.summary import Pair, measured_by_all, pairs
from benchmarks.panel.tasks import all_rows
from benchmarks.records import Records

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_all"]

KINDS = ("far", "near", "made-up")
DPI = 110


def draw_all(records: Records) -> Iterator[Path]:
    """Scores of the recommended posterior by outliers for each in-distribution set; one of all posteriors."""
    rows = [row for row in all_rows(records) if row.posterior != NO_MODEL]
    folder, mark = records.folder / "figures", quick_mark(records.quick)
    found: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs([row for row in rows if row.posterior == RECOMMENDED.posterior]):
        group = next((name for name, members in GROUPS.items() if pair.inliers in members), pair.inliers)
        found[group].append(pair)
    for inliers, own in found.items():
        figure = _scores_map(f"{inliers}, {RECOMMENDED.posterior}: AUROC{mark}", own)
        yield save_figure(figure, folder / f"scores-{inliers}.png", dpi=DPI)
    under = pairs([row for row in measured_by_all(rows) if row.score == RECOMMENDED.score], grouped=True)
    if len({pair.posterior for pair in under}) > 1:
        cells = {(pair.title, pair.posterior): pair.auroc for pair in under}
        figure = heat_map(f"Posteriors under {RECOMMENDED.score}: AUROC{mark}", cells)
        yield save_figure(figure, folder / "posteriors.png", dpi=DPI)


def _scores_map(title: str, own: Sequence[Pair]) -> Figure:
    """Scores, the best mean first, by outliers, which are put together by kind."""
    by_score: dict[str, list[float]] = defaultdict(list)
    for pair in own:
        by_score[pair.score].append(pair.auroc)
    best = sorted(by_score, key=lambda score: -fmean(by_score[score]))
    own = sorted(own, key=lambda pair: (best.index(pair.score), KINDS.index(pair.kind)))
    kinds = {pair.outliers: pair.kind for pair in own}
    figure = heat_map(title, {(pair.score, pair.outliers): pair.auroc for pair in own})
    axes = figure.axes[0]
    places = [KINDS.index(kind) for kind in kinds.values()]
    for border in np.flatnonzero(np.diff(places)):
        axes.axvline(border + 0.5, color="white", linewidth=4)
    for kind in dict.fromkeys(kinds.values()):
        own_columns = [number for number, each in enumerate(kinds.values()) if each == kind]
        axes.text(fmean(own_columns), len(best) - 0.3, kind, ha="center", va="top", style="italic")
    return figure
