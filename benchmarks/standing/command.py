"""The command ``python -m benchmarks standing``: arguments in, calls out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["standing"]


def standing(
    results: Annotated[
        Path | None, typer.Option(help="The folder of all records. Default: results/ of this checkout.")
    ] = None,
) -> None:
    """Draw where we stand: ours, the best simple baseline and the best published number, from the records."""
    from rich.console import Console

    from benchmarks.drawing import save_figure
    from benchmarks.places import RESULTS
    from benchmarks.standing.figure import draw_standing
    from benchmarks.standing.lines import standing_lines

    folder = results or RESULTS
    path = save_figure(draw_standing(list(standing_lines(folder))), folder / "standing" / "standing.png")
    Console(stderr=True, highlight=False).print(str(path), markup=False, soft_wrap=True)
