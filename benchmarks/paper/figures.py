"""The paper's figures, drawn from the records alone and for the preset that samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from benchmarks.curves import precision_recall
from benchmarks.drawing import new_figure, quick_mark, save_figure, sheet_figure
from benchmarks.paper.benchmarks import BENCHMARKS
from benchmarks.paper.latent import GROUP
from benchmarks.paper.methods import METHODS
from benchmarks.records import Record, Records

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_all"]

PRESET = "settled"
DPI = 110
# Okabe and Ito's colours, told apart by the colour-blind; a method has the same colour everywhere.
COLOURS = {
    "BVAE1": "#0072B2",
    "BVAE2": "#D55E00",
    "LL": "#009E73",
    "LLR": "#CC79A7",
    "TT": "#E69F00",
    "WAIC": "#56B4E9",
    "Annulus": "#009E73",
    "qz": "#CC79A7",
    "BVAE1-mean-D": "#56B4E9",
    "information": "#D55E00",
    "norm": "#E69F00",
    "kNN": "#999999",
}
INSIDE, OUTSIDE = "#0072B2", "#E69F00"


def draw_all(records: Records) -> Iterator[Path]:
    """Draws every figure there are records for, and gives the path of each as it is written.

    Curves and histograms are those of the smallest seed.
    """
    folder = records.folder / "figures"
    for benchmark, each in BENCHMARKS.items():
        methods, name = _by_method(records.read(benchmark)), f"{benchmark}-{PRESET}"
        title = f"{each.title}, {PRESET}{quick_mark(records.quick)}"
        if methods and not each.held_out:
            yield save_figure(_curves(methods, title), folder / f"curves-{name}.png", dpi=DPI)
        if {"LL", "BVAE2"} <= set(methods) and not each.held_out:
            yield save_figure(_histograms(methods, title), folder / f"histograms-{name}.png", dpi=DPI)
        for method, record in methods.items():
            if "pictured" in record.about:
                figure = _disagreement(record, records.folder, f"{METHODS[method].label}, {title}")
                file = folder / f"disagreement-{name}-{method.lower()}.png"
                yield save_figure(figure, file, dpi=DPI)
    for record in [each for each in records.read(GROUP) if each.name == PRESET][:1]:
        yield save_figure(_latent(record, records.quick), folder / f"latent-{PRESET}.png", dpi=DPI)


def _by_method(found: list[Record]) -> dict[str, Record]:
    """The record of the smallest seed by method, in the order of the table."""
    first: dict[str, Record] = {}
    for record in found:
        preset, _, method = record.name.partition("/")
        if preset == PRESET:
            first.setdefault(method, record)
    return {method: first[method] for method in METHODS if method in first}


def _curves(methods: Mapping[str, Record], title: str) -> Figure:
    """ROC, and precision over recall both ways, of all methods."""
    figure, (left, middle, right) = new_figure(1, 3, (13.5, 5.0))
    for name, record in methods.items():
        style: dict[str, Any] = {"color": COLOURS[name], "linewidth": 2.2 if name.startswith("BVAE") else 1.4}
        label, row, roc = METHODS[name].label, record.rows[0], record.about["roc"]
        left.plot(roc["false"], roc["true"], label=f"{label}  {row['auroc']:.3f}", **style)
        # With in-distribution as the positive class, what is not flagged is what is found.
        swapped = {ours: [1 - rate for rate in reversed(roc[theirs])] for ours, theirs in _SWAPPED.items()}
        for axes, curve, area in ((middle, swapped, "auprc_in"), (right, roc, "auprc_out")):
            recall, precision = precision_recall(curve)
            axes.plot(recall, precision, label=f"{label}  {row[area]:.3f}", **style)
    left.plot([0, 1], [0, 1], color="0.7", linewidth=1, linestyle=":")
    left.set(title="ROC (AUROC)", xlabel="false-positive rate", ylabel="true-positive rate")
    middle.set(title="in-distribution is positive (AUPRC)", xlabel="recall", ylabel="precision")
    right.set(title="out-of-distribution is positive (AUPRC)", xlabel="recall", ylabel="precision")
    for axes in (left, middle, right):
        axes.set(xlim=(0, 1), ylim=(0, 1.01))
        # Below the curves, which may be anywhere inside.
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncol=3, fontsize=9, frameon=False)
    figure.suptitle(title)
    return figure


_SWAPPED = {"false": "true", "true": "false"}


def _histograms(methods: Mapping[str, Record], title: str) -> Figure:
    """The log-likelihood and the disagreement of both classes."""
    figure, (left, right) = new_figure(1, 2, (10.5, 4.0))
    for axes, name in ((left, "LL"), (right, "BVAE2")):
        drawn = methods[name].about["histogram"]
        spaced = np.geomspace if drawn["logarithmic"] else np.linspace
        edges = spaced(drawn["low"], drawn["high"], len(drawn["in"]) + 1)
        for counts, colour, label in (
            (drawn["in"], INSIDE, "in-distribution"),
            (drawn["out"], OUTSIDE, "out-of-distribution"),
        ):
            axes.stairs(counts, edges, fill=True, color=colour, alpha=0.55, label=label)
        axes.set_ylabel("inputs")
        axes.legend(loc="best", frameon=False)
    right.set_xscale("log")
    left.set(title="LL", xlabel="log p(x) in nats")
    right.set(title="BVAE₂", xlabel="disagreement, −log(1 − 1/ESS)")
    figure.suptitle(title)
    return figure


def _disagreement(record: Record, folder: Path, title: str) -> Figure:
    """Inputs from the least to the most disagreed on, above what several draws make of them."""
    shown = record.about["pictured"]
    heads = [
        f"{'in' if number < shown['inliers'] else 'out'}\n{value:.3g}"
        for number, value in enumerate(shown["scores"])
    ]
    with Image.open(folder / shown["sheet"]) as image:
        pixels = np.asarray(image)
    rows = ["input", *(f"draw {number + 1}" for number in range(shown["draws"]))]
    figure = sheet_figure(pixels, rows, heads)
    figure.suptitle(f"{title}\ninputs in order of disagreement (the number above), and their reconstructions")
    return figure


def _latent(record: Record, quick: bool) -> Figure:
    """The ROC curves of the latent-space benchmark."""
    figure, axes = new_figure(1, 1, (5.8, 5.4))
    for row in record.rows:
        name, roc = row["score"], record.about["roc"][row["score"]]
        label = f"{METHODS[name].label if name in METHODS else name}  {row['auroc']:.3f}"
        axes.plot(roc["false"], roc["true"], color=COLOURS[name], label=label, linewidth=2)
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1, linestyle=":")
    axes.set(xlabel="false-positive rate", ylabel="true-positive rate", xlim=(0, 1), ylim=(0, 1.01))
    axes.legend(loc="lower right", frameon=False)
    figure.suptitle(f"Latent space, FashionMNIST, {record.name}{quick_mark(quick)}")
    return figure
