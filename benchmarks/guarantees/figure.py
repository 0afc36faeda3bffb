"""The figure of the guarantees: four panels, from the record alone."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.guarantees.measure import BATCHES, DISCOVERIES, FALSE_ALARMS, STREAMS
from benchmarks.guarantees.sentences import of_kind
from benchmarks.records import Record
from benchmarks.rows import by_part
from dissensus.report import require_matplotlib
from dissensus.seeding import numpy_stream

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_guarantees"]

# Blue and orange stay apart for every kind of colour vision.
INK, FAINT, NORMAL, STRANGE = "#1c2733", "#8593a1", "#2b6cb0", "#d9730d"


def draw_guarantees(record: Record) -> bytes:
    """The figure as PNG bytes."""
    require_matplotlib()
    parts = by_part(record)
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(h_pad=0.12, w_pad=0.12)
    figure = Figure(figsize=(9.5, 7.2), dpi=150, layout=layout)
    (first, second), (third, fourth) = figure.subplots(2, 2)
    _false_alarms(first, of_kind(parts, FALSE_ALARMS), record.settings["splits"])
    _discoveries(second, of_kind(parts, DISCOVERIES))
    _streams(third, parts[STREAMS])
    _batches(fourth, parts[BATCHES])
    for axes in (first, second, third, fourth):
        _plain(axes)
    buffer = io.BytesIO()
    # Without the metadata the bytes depend on the numbers alone.
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def _false_alarms(axes: Axes, found: list[Mapping[str, Any]], splits: int) -> None:
    """A dot a split; the bar is the interval that was stated beforehand."""
    for place, one in enumerate(found):
        realised = np.array(one["realised"])
        across = place + numpy_stream(0, "dots", place).uniform(-0.3, 0.3, len(realised))
        inside = (realised >= one["low"] - 1e-9) & (realised <= one["high"] + 1e-9)
        axes.fill_between(
            [place - 0.38, place + 0.38], one["low"], one["high"], color=NORMAL, alpha=0.16, lw=0
        )
        axes.plot([place - 0.38, place + 0.38], [one["rate"]] * 2, color=INK, lw=1.2)
        for chosen, colour in ((inside, NORMAL), (~inside, STRANGE)):
            axes.scatter(across[chosen], realised[chosen], s=6, color=colour, lw=0, alpha=0.8)
        axes.annotate(
            f"{one['inside']:.1%} inside\n{one['stated']:.1%} stated",
            (place, max(float(realised.max()), one["high"])),
            xytext=(0, 5),
            textcoords="offset points",
            ha="center",
            fontsize=8,
            color=INK,
        )
    axes.set_xticks(range(len(found)), [f"{one['rate']:.0%} asked for" for one in found])
    axes.set_xlim(-0.5, len(found) - 0.5)
    axes.set_ylim(0, 1.25 * max(max(one["realised"]) for one in found))
    axes.set_ylabel("realised false-alarm rate")
    axes.set_title(f"False alarms: {splits} splits, and the interval stated")
    _percent(axes)


def _discoveries(axes: Axes, found: list[Mapping[str, Any]]) -> None:
    most = 1.5 * max(one["target"] for one in found)
    axes.plot([0, most], [0, most], color=FAINT, lw=1, ls=(0, (4, 3)))
    axes.annotate("allowed", (0.7 * most, 0.7 * most), ha="right", va="bottom", fontsize=8, color=FAINT)
    for one in found:
        error = 2 * one["standard_error"]
        axes.errorbar(one["target"], one["realised"], yerr=error, fmt="o", color=NORMAL, ms=5, capsize=3)
        axes.annotate(
            f"{one['power']:.0%} of outliers found",
            (one["target"], one["realised"]),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=STRANGE,
        )
    axes.set_xlim(0, most)
    axes.set_ylim(0, most)
    axes.set_xlabel("false discovery rate asked for")
    axes.set_ylabel("realised, ± 2 standard errors")
    axes.set_title("Benjamini–Hochberg: false discoveries")
    _percent(axes)
    axes.xaxis.set_major_formatter(axes.yaxis.get_major_formatter())


def _streams(axes: Axes, found: Mapping[str, Any]) -> None:
    for kind, colour, label, first in (
        ("normal", NORMAL, f"no drift: {found['false_alarms']:.1%} raise the alarm", 0),
        # Before the drift these are the same streams.
        ("drifted", STRANGE, f"drift: {found['detected']:.0%} raise the alarm", found["drift_from"]),
    ):
        for number, path in enumerate(found["paths"][kind]):
            along = np.arange(len(path)) * found["step"]
            shown = along >= first
            height = np.array(path) / math.log(10)
            name = label if number == 0 else None
            axes.plot(along[shown], height[shown], color=colour, lw=0.9, alpha=0.7, label=name)
    level = math.log10(1 / found["delta"])
    axes.axhline(level, color=INK, lw=1.2, ls=(0, (4, 3)))
    axes.annotate(
        f"alarm at {1 / found['delta']:g}",
        (0, level),
        xytext=(2, 4),
        textcoords="offset points",
        fontsize=8,
        color=INK,
    )
    axes.axvline(found["drift_from"], color=FAINT, lw=0.8)
    axes.set_ylim(-4, 8)
    axes.set_xlabel(
        f"inputs; from {found['drift_from']} on, {found['drift_share']:.0%} outliers in the drifted"
    )
    axes.set_ylabel("evidence of drift, log₁₀")
    axes.set_title("Streams: conformal test martingale")
    axes.legend(frameon=False, fontsize=8, labelcolor=INK, loc="upper left", bbox_to_anchor=(0, 0.97))


def _batches(axes: Axes, found: Mapping[str, Any]) -> None:
    axes.plot([0, 1], [0, 1], color=FAINT, lw=1, ls=(0, (4, 3)))
    for kind, colour, name in (
        ("normal", NORMAL, "normal"),
        ("strange", STRANGE, f"{found['strange_share']:.0%} outliers"),
    ):
        ordered = np.sort(found["p_values"][kind])
        label = f"{name}: {found['rejected'][kind]:.1%} rejected at {found['level']:.0%}"
        axes.step(
            [0, *ordered, 1], np.linspace(0, 1, len(ordered) + 2), color=colour, where="post", label=label
        )
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("p-value of the batch")
    axes.set_ylabel("share of batches at or below")
    axes.set_title(f"Batches of {found['size']}: rank-sum test")
    axes.legend(frameon=False, fontsize=8, labelcolor=INK, loc="lower right")


def _percent(axes: Axes) -> None:
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")


def _plain(axes: Axes) -> None:
    axes.set_title(axes.get_title(), loc="left", fontweight="bold", fontsize=10.5, color=INK, pad=8)
    axes.set_title("", loc="center")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(FAINT)
    axes.tick_params(which="both", colors=FAINT, labelsize=8)
    for text in (axes.xaxis.label, axes.yaxis.label):
        text.set_color(INK)
        text.set_fontsize(9)
