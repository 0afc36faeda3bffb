"""The paper's figures, drawn from the records alone (class examples come from the dataset)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.drawing import new_figure, quick_mark, save_figure
from benchmarks.paper.benchmarks import BENCHMARKS
from benchmarks.paper.methods import METHODS
from benchmarks.paper.presets import PRESETS
from benchmarks.paper.records import read_all, read_scores
from dissensus.evaluation import auprc, auroc, pr_curve, read_records, roc_curve
from dissensus.inputs import load_dataset

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_all"]

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
}
INSIDE, OUTSIDE = "#0072B2", "#E69F00"

Scores = Mapping[str, NDArray[Any]]


def draw_all(output: Path, *, quick: bool) -> Iterator[Path]:
    """Draws every figure there are records for, and gives the path of each as it is written.

    Curves and histograms are those of the smallest seed.
    """
    folder = output / "figures"
    found = _by_benchmark(output, quick)
    for (benchmark, preset), methods in found.items():
        title = f"{BENCHMARKS[benchmark].title}, {preset}{quick_mark(quick)}"
        yield save_figure(_curves(methods, title), folder / f"curves-{benchmark}-{preset}.png")
        if not BENCHMARKS[benchmark].held_out and {"LL", "BVAE2"} <= set(methods):
            yield save_figure(_histograms(methods, title), folder / f"histograms-{benchmark}-{preset}.png")
        for name in ("BVAE1", "BVAE2"):
            if "pictures" in methods.get(name, {}):
                figure = _disagreement(methods[name], f"{METHODS[name].label}, {title}")
                yield save_figure(figure, folder / f"disagreement-{benchmark}-{preset}-{name.lower()}.png")
    yield from _latent(output, folder, quick)
    yield save_figure(_classes(), folder / "fashion-mnist-classes.png")


def _by_benchmark(output: Path, quick: bool) -> dict[tuple[str, str], dict[str, Scores]]:
    """Scores by method, for each benchmark and preset, of the smallest seed there is."""
    records = [record for _, record in read_all(output, quick=quick) if record["benchmark"] in BENCHMARKS]
    found: dict[tuple[str, str], dict[str, Scores]] = {}
    for record in sorted(records, key=lambda record: int(record["seed"])):
        methods = found.setdefault((record["benchmark"], record["preset"]), {})
        if record["method"] not in methods:
            methods[record["method"]] = read_scores(output, record)
    order = [(benchmark, preset) for benchmark in BENCHMARKS for preset in PRESETS]
    return {key: {m: found[key][m] for m in METHODS if m in found[key]} for key in order if key in found}


def _curves(methods: Mapping[str, Scores], title: str) -> Figure:
    """ROC, and precision over recall both ways, of all methods."""
    figure, (left, middle, right) = new_figure(1, 3, (13.5, 5.0))
    for name, scores in methods.items():
        inside, outside = scores["in"], scores["out"]
        style: dict[str, Any] = {"color": COLOURS[name], "linewidth": 2.2 if name.startswith("BVAE") else 1.4}
        label = METHODS[name].label
        roc = roc_curve(inside, outside)
        left.plot(
            roc.false_positive_rate,
            roc.true_positive_rate,
            label=f"{label}  {auroc(inside, outside):.3f}",
            **style,
        )
        ways: tuple[tuple[Axes, Literal["in", "out"]], ...] = ((middle, "in"), (right, "out"))
        for axes, positive in ways:
            curve = pr_curve(inside, outside, positive=positive)
            area = auprc(inside, outside, positive=positive)
            # The first point stands for an empty selection; drawing it would add a spike.
            axes.plot(curve.recall[1:], curve.precision[1:], label=f"{label}  {area:.3f}", **style)
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


def _histograms(methods: Mapping[str, Scores], title: str) -> Figure:
    """The log-likelihood and the disagreement of both classes."""
    figure, (left, right) = new_figure(1, 2, (10.5, 4.0))
    for axes, (name, sign) in zip((left, right), (("LL", -1.0), ("BVAE2", 1.0)), strict=True):
        inside, outside = sign * methods[name]["in"], sign * methods[name]["out"]
        low, high = np.quantile(np.concatenate([inside, outside]), [0.002, 0.998])
        bins = np.linspace(low, high, 60) if name == "LL" else np.geomspace(low, high, 60)
        for values, colour, label in (
            (inside, INSIDE, "in-distribution"),
            (outside, OUTSIDE, "out-of-distribution"),
        ):
            axes.hist(values, bins=bins, color=colour, alpha=0.55, label=label)
        axes.set_ylabel("inputs")
        axes.legend(loc="best", frameon=False)
    right.set_xscale("log")
    left.set(title="LL", xlabel="log p(x) in nats")
    right.set(title="BVAE₂", xlabel="disagreement, −log(1 − 1/ESS)")
    figure.suptitle(title)
    return figure


def _disagreement(scores: Scores, title: str) -> Figure:
    """Inputs from the least to the most disagreed on, above what several draws make of them."""
    values = np.concatenate([scores["in"], scores["out"]])[scores["pictured"]]
    is_out = scores["pictured"] >= len(scores["in"])
    rows = ["input", *(f"draw {number + 1}" for number in range(len(scores["reconstructions"])))]
    heads = [f"{'out' if out else 'in'}\n{value:.3g}" for out, value in zip(is_out, values, strict=True)]
    images = np.concatenate([scores["pictures"][None], scores["reconstructions"]])
    figure = _montage(images, rows, heads)
    figure.suptitle(f"{title}\ninputs in order of disagreement (the number above), and their reconstructions")
    return figure


def _latent(output: Path, folder: Path, quick: bool) -> Iterator[Path]:
    """The ROC curves of the latent-space benchmark."""
    if not (output / "latent").is_dir():
        return
    drawn = set()
    for record in read_records(output / "latent").values():
        preset = record["preset"]
        if preset in drawn or record["quick"] is not quick:
            continue
        drawn.add(preset)
        arrays = read_scores(output, record)
        inside = arrays["in_distribution"]
        figure, axes = new_figure(1, 1, (5.8, 5.4))
        for name in record["metrics"]:
            roc = roc_curve(arrays[name][inside], arrays[name][~inside])
            label = (
                f"{METHODS[name].label if name in METHODS else name}  {record['metrics'][name]['auroc']:.3f}"
            )
            axes.plot(
                roc.false_positive_rate, roc.true_positive_rate, color=COLOURS[name], label=label, linewidth=2
            )
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=1, linestyle=":")
        axes.set(xlabel="false-positive rate", ylabel="true-positive rate", xlim=(0, 1), ylim=(0, 1.01))
        axes.legend(loc="lower right", frameon=False)
        figure.suptitle(f"Latent space, FashionMNIST, {preset}{quick_mark(quick)}")
        yield save_figure(figure, folder / f"latent-{preset}.png")


def _classes(examples: int = 12) -> Figure:
    """The first images of each class of FashionMNIST, one class a row."""
    names = (
        "t-shirt",
        "trouser",
        "pullover",
        "dress",
        "coat",
        "sandal",
        "shirt",
        "sneaker",
        "bag",
        "ankle boot",
    )
    source = load_dataset("fashion-mnist", "test")
    images = np.stack([source.images[source.labels == label][:examples, None] for label in range(len(names))])
    figure = _montage(
        images, [f"{label}  {name}" for label, name in enumerate(names)], [""] * images.shape[1]
    )
    figure.suptitle("FashionMNIST, class by class")
    return figure


def _montage(images: NDArray[np.uint8], rows: Sequence[str], heads: Sequence[str], gap: int = 3) -> Figure:
    """Images (R, n, C, H, W) as a grid in one picture, with a word for each row and column."""
    R, n, channels, height, width = images.shape
    sheet = np.full((R * (height + gap) - gap, n * (width + gap) - gap, channels), 255, dtype=np.uint8)
    for row, column in np.ndindex(R, n):
        top, left = row * (height + gap), column * (width + gap)
        sheet[top : top + height, left : left + width] = images[row, column].transpose(1, 2, 0)
    figure, axes = new_figure(1, 1, (0.8 * n + 1.2, 0.8 * R + (1.1 if any(heads) else 0.4)))
    axes.imshow(sheet.squeeze(-1) if channels == 1 else sheet, cmap="gray", vmin=0, vmax=255)
    axes.set_xticks(np.arange(n) * (width + gap) + width / 2, heads)
    axes.set_yticks(np.arange(R) * (height + gap) + height / 2, rows)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.grid(False)
    axes.spines[:].set_visible(False)
    return figure
