"""The figures of a latent space of two dimensions: where draws disagree, and what searches find there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.drawing import new_figure, picture_sheet, quick_mark, save_figure, sheet_figure
from benchmarks.records import Record, Records

__all__ = ["draw_plane"]

ARMS = {"plain": ("proposals without the gate", "X", "#D55E00"), "gate": ("with the gate", "o", "#56B4E9")}


def draw_plane(records: Records) -> Iterator[Path]:
    """The plane and the proposals, if they were measured, and their paths."""
    for record in records.read("plane"):
        yield _plane(record, records)
        yield _proposals(record, records)


def _plane(record: Record, records: Records) -> Path:
    """Disagreement as shades, codes as points, the limit as a line."""
    reach, about = record.settings["reach"], record.about
    side = np.linspace(-reach, reach, record.settings["grid"])
    values = np.array(about["disagreement"]).reshape(len(side), len(side)).T  # rows are the second latent
    figure, axes = new_figure(1, 1, (6.4, 4.8))
    shades = axes.pcolormesh(side, side, values, cmap="Greys", shading="nearest", rasterized=True)
    axes.contour(side, side, values, levels=[about["limit"]], colors="#009E73", linewidths=1.2)
    axes.plot([], [], color="#009E73", label="the limit")
    axes.scatter(
        *np.array(about["codes"]).T, s=3, color="#E69F00", alpha=0.5, label="codes of training inputs"
    )
    for arm, (label, marker, colour) in ARMS.items():
        points = np.array(about["proposals"][arm]).T
        axes.scatter(*points, s=45, marker=marker, color=colour, edgecolor="white", label=label)
    axes.grid(False)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), xlabel="first latent", ylabel="second latent")
    axes.set_title(f"Disagreement in a latent space{quick_mark(records.quick)}")
    figure.colorbar(shades, ax=axes, label="disagreement, nats")
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    return save_figure(figure, records.folder / "plane.png", dpi=110)


def _proposals(record: Record, records: Records) -> Path:
    """What the proposals decode to, a row for each way to search."""
    pictures = [np.array(record.about["pictures"][arm], dtype=np.uint8) for arm in ARMS]
    most = min(map(len, pictures))
    sheet = picture_sheet(np.stack([each[:most, None] for each in pictures]))
    names = ["without the gate", "with the gate"]
    figure = sheet_figure(sheet, names, [str(number + 1) for number in range(most)])
    return save_figure(figure, records.folder / "proposals.png", dpi=110)
