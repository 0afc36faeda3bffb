"""The figures, from the records alone."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.records import Record
from dissensus.destination import write_output
from dissensus.report import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_all"]

# Blue and orange stay apart for every kind of colour vision.
INK, FAINT, OURS, OTHER = "#1c2733", "#8593a1", "#2b6cb0", "#d9730d"


def draw_all(records: Iterable[tuple[str, Record]], folder: Path) -> list[Path]:
    """Draws what the records hold, each with its device, one file a part and device; the files."""
    require_matplotlib()
    drawn = []
    for device, record in records:
        draw = FIGURES.get(record.name)
        if draw is None:
            continue
        path = folder / f"{record.name}-{device}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        buffer = io.BytesIO()
        draw(record).savefig(buffer, dpi=150, format="png", metadata={"Software": None})
        write_output(path, buffer.getvalue())
        drawn.append(path)
    return drawn


def _training(record: Record) -> Figure:
    figure, (left, right) = _figure(2, "Training", record)
    rows = [row for row in record.about["chains"] if row["network"] == "conv"]
    chains = [row["chains"] for row in rows]
    left.plot(chains, [1e3 * row["step_seconds_per_chain"] for row in rows], "o-", color=OURS)
    other = next(row["straightforward_epoch_seconds"] for row in rows if row["straightforward_epoch_seconds"])
    step = other / (record.settings["training_images"] // record.settings["batch_size"])
    left.axhline(1e3 * step, color=OTHER, ls=(0, (4, 3)))
    left.annotate(
        "straightforward PyTorch",
        (chains[0], 1e3 * step),
        xytext=(0, -12),
        textcoords="offset points",
        color=OTHER,
        fontsize=8,
    )
    left.set(ylabel="ms a step and chain", yscale="log")
    right.plot(chains, [row["epoch_seconds"] for row in rows], "o-", color=OURS)
    right.set(ylabel="s an epoch of all chains", yscale="log")
    for axes in (left, right):
        axes.set_xscale("log", base=2)
        axes.set_xticks(chains, [str(number) for number in chains])
        axes.set_xlabel("chains at once")
    return figure


def _decoding(record: Record) -> Figure:
    figure, axes = _figure(1, "Decodings a second", record)
    rows = record.about["rates"][::-1]
    labels = [f"{row['observation']}, M={row['draws']}, K={row['samples']}, {row['path']}" for row in rows]
    rates = [row["decodings_per_second"] for row in rows]
    axes[0].barh(labels, rates, color=OURS)
    compared = record.rows[0]
    axes[0].axvline(compared["other"], color=OTHER, ls=(0, (4, 3)))
    axes[0].annotate(
        compared["other_name"], (compared["other"], len(rows) - 0.4), color=OTHER, fontsize=8, ha="center"
    )
    axes[0].set(xscale="log")
    return figure


def _growth(record: Record) -> Figure:
    names = {"N": "inputs N", "M": "draws M", "K": "importance samples K", "C": "chains C"}
    figure, (left, right) = _figure(2, "Growth", record)
    colours = dict(zip(names, (OURS, OTHER, "#2f855a", "#805ad5"), strict=True))
    for name, axis in record.about["axes"].items():
        values = [point[name] for point in axis["points"]]
        for axes, key, divisor, kind in (
            (left, "seconds", 1, "time_slope"),
            (right, "peak_bytes", 2**20, "memory_slope"),
        ):
            heights = [point[key] / divisor for point in axis["points"]]
            # Against multiples of the first value, so that all axes start at the same place.
            label = f"{names[name]}: slope {round(axis[kind], 2) + 0.0:.2f}"  # never −0.00
            axes.plot(
                [value / values[0] for value in values], heights, "o-", color=colours[name], label=label
            )
    left.set(ylabel="seconds")
    right.set(ylabel="peak memory, MiB")
    for axes in (left, right):
        axes.set_xscale("log", base=2)
        axes.set(yscale="log", xlabel="times the smallest")
        _at_least_a_decade(axes)
        axes.legend(loc="best", frameon=False, fontsize=8, labelcolor=INK)
    return figure


def _at_least_a_decade(axes: Axes) -> None:
    """So that what is flat looks flat: a logarithmic axis of a few percent would make a mountain of it."""
    low, high = axes.get_ylim()
    missing = (10 * low / high) ** 0.5
    if missing > 1:
        axes.set_ylim(low / missing, high * missing)


def _single(record: Record) -> Figure:
    figure, (axes,) = _figure(1, "One image, thorough", record)
    latency = record.about["latency"]
    axes.hist([1e3 * value for value in latency["every"]], bins=30, color=OURS)
    goal = next(one["other"] for one in record.rows if one["other_name"] == "goal")
    for place, text, colour in ((1e3 * latency["median"], "median", INK), (goal, "goal", OTHER)):
        axes.axvline(place, color=colour, ls=(0, (4, 3)))
        axes.annotate(f"{text} {place:.0f} ms", (place, axes.get_ylim()[1]), color=colour, fontsize=8)
    axes.set(xlabel="ms", ylabel="images", xlim=(0, None))
    return figure


def _rivals(record: Record) -> Figure:
    rows = record.rows[::-1]
    figure, (axes,) = _figure(1, "Beside others, equal network", record, height=1.2 + 0.28 * len(rows))
    bars = axes.barh(range(len(rows)), [row["ratio"] for row in rows], color=OURS)
    axes.bar_label(bars, [f" {row['ratio']:.1f}×" for row in rows], color=INK, fontsize=8)
    axes.set_yticks(range(len(rows)), [f"{row['name']}\nagainst {row['other_name']}" for row in rows])
    axes.axvline(1, color=OTHER, ls=(0, (4, 3)))
    axes.set(xscale="log", xlabel="times as fast")
    axes.tick_params(axis="y", labelsize=6)
    return figure


def _figure(columns: int, title: str, record: Record, height: float = 4.2) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2 * columns + 1.2, max(height, 2.5)), layout="constrained")
    axes = figure.subplots(1, columns, squeeze=False)[0]
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
        each.spines[["left", "bottom"]].set_color(FAINT)
        each.tick_params(which="both", colors=FAINT, labelcolor=INK, labelsize=8)
    figure.suptitle(f"{title} · {record.settings['hardware']}", color=INK, fontsize=10)
    return figure, axes


FIGURES: Mapping[str, Callable[[Record], Figure]] = {
    "training": _training,
    "decoding": _decoding,
    "growth": _growth,
    "single": _single,
    "rivals": _rivals,
}
