"""The figure of mean ranks, drawn from the records alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.drawing import new_figure, quick_mark, save_figure
from benchmarks.records import Records
from benchmarks.tables.detectors import DETECTORS, NEEDED, OURS, TITLES
from benchmarks.tables.sets import KINDS
from benchmarks.tables.summary import Mean, of_kind, rank_means, read_sets

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_ranks"]

# Blue and orange stay apart for every kind of colour vision.
INK, THEIRS, OWN = "#1c2733", "#2b6cb0", "#d9730d"


def draw_ranks(records: Records) -> Path | None:
    """A panel a kind of set, the best detector on top; None where nothing is measured."""
    by_set = read_sets(records, DETECTORS, needed=NEEDED)
    found = {kind: means for kind in KINDS if (means := rank_means(by_set, kind))}
    if not found:
        return None
    most = max(map(len, found.values()))
    figure, axes = new_figure(1, len(found), (4.6 * len(found) + 0.4, 0.33 * most + 1.5))
    for each, (kind, means) in zip(axes.flat if len(found) > 1 else [axes], found.items(), strict=True):
        sets = len(next(iter(of_kind(by_set, kind).values())))
        _ranks(each, means)
        title = f"{sets} {kind}{quick_mark(records.quick)}"
        each.set_title(title, loc="left", fontweight="bold", fontsize=10.5, color=INK)
    return save_figure(figure, records.folder / "ranks.png")


def _ranks(axes: Axes, means: Mapping[str, Mean]) -> None:
    """A dot and its interval for each detector."""
    for place, (name, mean) in enumerate(means.items()):
        colour = OWN if name in OURS else THEIRS
        axes.hlines(place, mean.low, mean.high, color=colour, lw=2.2, alpha=0.45)
        axes.plot(mean.value, place, "o", color=colour, ms=6)
        axes.annotate(
            f"{mean.value:.1f}",
            (mean.value, place),
            xytext=(0, 5),
            textcoords="offset points",
            ha="center",
            fontsize=7.5,
            color=INK,
        )
    axes.set_yticks(range(len(means)), [TITLES[name] for name in means])
    for label, name in zip(axes.get_yticklabels(), means, strict=True):
        label.set_color(OWN if name in OURS else INK)
        label.set_fontweight("bold" if name in OURS else "normal")
    axes.set_ylim(len(means) - 0.4, -0.8)
    axes.set_xlim(0.8, len(means) + 0.2)
    axes.tick_params(labelsize=8.5, length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(False, axis="y")
    axes.set_xlabel("mean rank by AUROC (95% interval over sets)", fontsize=8.5)
