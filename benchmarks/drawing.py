"""Figures of the benchmarks: made and saved without any global state of matplotlib's."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from benchmarks.decimals import short
from dissensus.destination import write_output
from dissensus.errors import SettingsError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "heat_map",
    "new_figure",
    "picture_sheet",
    "quick_mark",
    "save_figure",
    "save_picture",
    "sheet_figure",
]

_DPI = 160
GAP = 3  # pixels between pictures on a sheet
BRIGHT = 0.75  # of a cell that needs dark letters


def new_figure(rows: int, columns: int, size: Sequence[float]) -> tuple[Figure, Any]:
    """A figure of that size in inches, and its axes."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise SettingsError("figures need matplotlib: pip install 'dissensus[report]'") from None
    figure = Figure(figsize=(size[0], size[1]), layout="constrained")
    axes = figure.subplots(rows, columns)
    for each in np.atleast_1d(axes).flat:
        each.spines[["top", "right"]].set_visible(False)
        each.grid(alpha=0.25)
        each.set_axisbelow(True)
    return figure, axes


def save_figure(figure: Figure, path: Path, *, dpi: int = _DPI) -> Path:
    """Writes the figure as PNG, and missing folders, and gives the path back."""
    path.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=dpi, format="png")
    small = io.BytesIO()
    # 256 colours are enough for all of them, and a third of the size.
    Image.open(buffer).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
        small, "png", optimize=True
    )
    write_output(path, small.getvalue())
    return path


def save_picture(pixels: NDArray[np.uint8], path: Path) -> None:
    """Writes grey (H, W) or colour (H, W, 3) pixels, and missing folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, format="png", optimize=True)
    write_output(path, buffer.getvalue())


def quick_mark(quick: bool) -> str:
    """What a title says of a quick measurement."""
    return " (quick, not a result)" if quick else ""


def heat_map(title: str, cells: Mapping[tuple[str, str], float]) -> Figure:
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
    axes.tick_params(labelsize=8)
    _only_labels(axes)
    figure.colorbar(image, ax=axes, fraction=0.03, extend="min")
    figure.suptitle(title)
    return figure


def picture_sheet(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Images (R, n, C, H, W) as a grid in one picture, (height, width) or (height, width, 3)."""
    R, n, channels, height, width = images.shape
    sheet = np.full((R * (height + GAP) - GAP, n * (width + GAP) - GAP, channels), 255, dtype=np.uint8)
    for row, column in np.ndindex(R, n):
        top, left = row * (height + GAP), column * (width + GAP)
        sheet[top : top + height, left : left + width] = images[row, column].transpose(1, 2, 0)
    return sheet.squeeze(-1) if channels == 1 else sheet


def sheet_figure(sheet: NDArray[np.uint8], rows: Sequence[str], heads: Sequence[str]) -> Figure:
    """A sheet of pictures with a word for each row and column."""
    R, n = len(rows), len(heads)
    height, width = (sheet.shape[0] + GAP) / R, (sheet.shape[1] + GAP) / n
    figure, axes = new_figure(1, 1, (0.8 * n + 1.2, 0.8 * R + 1.1))
    axes.imshow(sheet, cmap="gray", vmin=0, vmax=255, interpolation="nearest")
    axes.set_xticks((np.arange(n) + 0.5) * width - GAP / 2, heads)
    axes.set_yticks((np.arange(R) + 0.5) * height - GAP / 2, rows)
    _only_labels(axes)
    return figure


def _only_labels(axes: Axes) -> None:
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.grid(False)
    axes.spines[:].set_visible(False)
