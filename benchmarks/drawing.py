"""Figures of the benchmarks: made and saved without any global state of matplotlib's."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus.destination import write_output
from dissensus.errors import SettingsError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["new_figure", "quick_mark", "save_figure"]

_DPI = 160


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


def save_figure(figure: Figure, path: Path) -> Path:
    """Writes the figure, and missing folders, and gives the path back."""
    path.parent.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=_DPI, format=path.suffix.removeprefix("."))
    write_output(path, buffer.getvalue())
    return path


def quick_mark(quick: bool) -> str:
    """What a title says of a quick measurement."""
    return " (quick, not a result)" if quick else ""
