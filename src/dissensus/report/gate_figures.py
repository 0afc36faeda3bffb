"""The figures of a gate's report: drawings that take the page's own colours, light, dark or printed."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import betabinom

from dissensus.report.figure import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dissensus.inspection import Assessment

__all__ = ["drift_figures", "p_value_figure", "score_figure", "svg"]

LEAST_WINDOW = 20  # inputs
POINTS = 400  # of a line
# Matplotlib draws with colours that nothing else uses; each is then replaced by the page's variable.
COLOURS = {
    "#010101": "var(--ink)",
    "#020202": "var(--faint)",
    "#030303": "var(--normal)",
    "#040404": "var(--strange)",
    "#050505": "var(--line)",
}
INK, FAINT, NORMAL, STRANGE, LINE = COLOURS


def svg(draw: Callable[[Axes], None], *, name: str, alt: str, size: tuple[float, float] = (4.6, 2.9)) -> str:
    """An ``<svg>`` element that says ``alt`` to those who cannot see it; ``name`` is unique in the page."""
    require_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    # Text stays text; the salt makes the bytes depend on the content alone, and names differ between figures.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "font.family": "sans-serif"}):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        draw(axes)
        _plain(axes)
        buffer = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text))
    text = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font-size: \1; font-family: inherit", text)
    for colour, variable in COLOURS.items():
        text = text.replace(colour, variable)
    return text.replace("<svg", f'<svg role="img" aria-label="{escape(alt)}"', 1)


def score_figure(a: Assessment) -> str:
    """The scores of the inputs and of the calibration inputs, with the threshold."""
    finite = [values[np.isfinite(values)] for values in (a.calibration_scores, a.scores)]
    together = np.concatenate(finite)
    low, high = (0.0, 1.0) if not len(together) else (float(together.min()), float(together.max()))
    # Disagreement spans orders of magnitude; likelihoods, which may be negative, do not.
    logarithmic = low > 0 and high > 20 * low
    edges = np.geomspace(low, high, 41) if logarithmic else np.linspace(low, max(high, low + 1e-9), 41)

    def draw(axes: Axes) -> None:
        _bars(axes, np.clip(a.calibration_scores, edges[0], edges[-1]), edges, NORMAL, "calibration")
        _bars(axes, np.clip(a.scores, edges[0], edges[-1]), edges, STRANGE, "these inputs")
        if logarithmic:
            axes.set_xscale("log")
        if math.isfinite(a.threshold):
            axes.axvline(a.threshold, color=INK, linewidth=1.2, linestyle=(0, (4, 3)))
            axes.annotate("flagged ▸", (a.threshold, 0.97), xycoords=("data", "axes fraction"), xytext=(4, 0),
                          textcoords="offset points", va="top", fontsize=9, color=INK)  # fmt: skip
        axes.set_xlabel("score; higher is more unusual")
        axes.set_ylabel("share")
        axes.set_ylim(top=axes.get_ylim()[1] * 1.15)
        axes.legend(frameon=False, labelcolor=INK, fontsize=9, loc="upper left")

    alt = (
        f"Histogram of scores: median {np.median(a.scores):.3g} here, "
        f"{np.median(a.calibration_scores):.3g} in calibration, threshold {a.threshold:.3g}."
    )
    return svg(draw, name="scores", alt=alt)


def p_value_figure(a: Assessment) -> str:
    """The p-values, which are level for inputs like the training data."""
    edges = np.linspace(0, 1, 21)

    def draw(axes: Axes) -> None:
        _bars(axes, a.p_values, edges, STRANGE, "these inputs")
        axes.axhline(1 / 20, color=NORMAL, linewidth=1.5, label="like the training data")
        axes.set_xlabel("p-value; small is unusual")
        axes.set_ylabel("share")
        axes.set_ylim(top=max(axes.get_ylim()[1], 0.1) * 1.15)
        axes.legend(frameon=False, labelcolor=INK, fontsize=9, loc="upper right")

    smallest = np.mean(a.p_values <= 0.05)
    alt = f"Histogram of p-values: {smallest:.0%} are at most 0.05; of inputs like the training data 5% are."
    return svg(draw, name="p-values", alt=alt)


def drift_figures(a: Assessment) -> list[str]:
    """The rolling share flagged and the evidence of drift, in the order of the inputs; none for a few."""
    if not a.is_ordered:
        return []
    window = min(len(a), max(LEAST_WINDOW, len(a) // 20))
    running = np.concatenate([[0], np.cumsum(a.flagged)])
    rolling = (running[window:] - running[:-window]) / window
    ends = np.arange(window, len(a) + 1)
    allowed = math.floor(a.false_alarm_rate * (len(a.calibration_scores) + 1) + 1e-9)

    def draw_share(axes: Axes) -> None:
        if allowed:
            law = betabinom(window, allowed, len(a.calibration_scores) + 1 - allowed)
            low, high = law.ppf([0.01, 0.99]) / window
            axes.axhspan(low, high, color=NORMAL, alpha=0.18, linewidth=0, label="usual")
        axes.plot(*_thinned(ends, rolling), color=STRANGE, linewidth=1.6, label="these inputs")
        axes.set_xlim(0, len(a))
        axes.set_ylim(bottom=0, top=max(axes.get_ylim()[1], 2 * a.false_alarm_rate))
        axes.set_xlabel("input")
        axes.set_ylabel(f"flagged of the last {window}")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.legend(frameon=False, labelcolor=INK, fontsize=9, loc="upper left")

    def draw_evidence(axes: Axes) -> None:
        axes.plot(*_thinned(np.arange(1, len(a) + 1), a.drift / math.log(10)), color=STRANGE, linewidth=1.6)
        axes.axhline(2, color=INK, linewidth=1.2, linestyle=(0, (4, 3)))
        axes.annotate(
            "alarm",
            (0.02, 2),
            xycoords=("axes fraction", "data"),
            xytext=(0, 4),
            textcoords="offset points",
            fontsize=9,
            color=INK,
        )
        axes.set_xlim(0, len(a))
        axes.set_ylim(top=max(axes.get_ylim()[1], 2.6))
        axes.set_xlabel("input")
        axes.set_ylabel("evidence of drift, powers of 10")

    share_alt = (
        f"The share flagged of the last {window} inputs, from {rolling.min():.0%} to {rolling.max():.0%}; "
        f"it ends at {rolling[-1]:.0%}."
    )
    largest = a.drift.max() / math.log(10)
    evidence_alt = f"The evidence of drift, at most ten to the power {largest:.1f}; the alarm is at 2."
    return [
        svg(draw_share, name="share", alt=share_alt),
        svg(draw_evidence, name="evidence", alt=evidence_alt),
    ]


def _bars(axes: Axes, values: NDArray[Any], edges: NDArray[np.float64], colour: str, text: str) -> None:
    weights = np.full(len(values), 1 / max(1, len(values)))
    axes.hist(values, bins=edges.tolist(), weights=weights, color=colour, alpha=0.62, label=text)


def _thinned(x: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """So few points that the page stays small, the last one among them."""
    chosen = np.unique(np.linspace(0, len(x) - 1, min(len(x), POINTS)).round().astype(np.int64))
    return x[chosen], y[chosen]


def _plain(axes: Axes) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(LINE)
    axes.tick_params(which="both", color=LINE, labelcolor=FAINT, labelsize=8)
    for text in (axes.xaxis.label, axes.yaxis.label):
        text.set_color(INK)
        text.set_fontsize(9)
