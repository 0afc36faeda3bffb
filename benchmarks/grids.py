"""One table maker for all benchmarks: the same words for the terminal, as Markdown and as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Literal, TypeAlias

from rich import box
from rich.console import Console
from rich.table import Table

from benchmarks.decimals import short
from dissensus.destination import write_output

__all__ = ["Form", "Grid", "mean_and_spread", "quick_title", "show", "to_latex", "to_markdown", "to_terminal"]

Form: TypeAlias = Literal["terminal", "markdown", "latex"]

SHOWN = 20  # lines of a table in the terminal
_LATEX = {
    **{letter: rf"\{letter}" for letter in "&%$#_{}"},
    "±": r"$\pm$",
    "→": r"$\to$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "Δ": r"$\Delta$",
    "−": "$-$",
    "–": "--",
    "₁": "$_1$",
    "₂": "$_2$",
    "R̂": r"$\hat R$",
}


@dataclass(frozen=True)
class Grid:
    """A table as words."""

    title: str
    head: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    whole: bool = True
    """Whether the terminal shows all lines of it."""
    wide: tuple[str, ...] = ()
    """Columns that the terminal leaves out, for 80 columns."""


def mean_and_spread(values: Sequence[float]) -> str:
    """As in ``.921±.003``: the mean, and the standard deviation where there are several.

    >>> mean_and_spread([0.9, 0.8]), mean_and_spread([0.9])
    ('.850±.071', '.900')
    """
    return short(fmean(values)) + (f"±{short(stdev(values))}" if len(values) > 1 else "")


def quick_title(title: str, quick: bool) -> str:
    """The title, marked where it is of a quick measurement."""
    return f"{title} (QUICK: not a result)" if quick else title


def to_terminal(grid: Grid) -> Table:
    """For the terminal."""
    shown = grid.lines if grid.whole else grid.lines[:SHOWN]
    left = len(grid.lines) - len(shown)
    table = Table(
        title=grid.title,
        title_justify="left",
        caption=f"and {left} more" if left else None,
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    columns = [number for number, name in enumerate(grid.head) if name not in grid.wide]
    for number in columns:
        words = number == 0 or grid.head[number] == "kind"
        table.add_column(grid.head[number], justify="left" if words else "right")
    for line in shown:
        table.add_row(*(line[number] for number in columns))
    return table


def to_markdown(grid: Grid) -> str:
    """For documents."""
    heads = [f"| {' | '.join(grid.head)} |", "|---" * len(grid.head) + "|"]
    return "\n".join([f"### {grid.title}", "", *heads, *(f"| {' | '.join(line)} |" for line in grid.lines)])


def to_latex(grid: Grid) -> str:
    """For papers, with the ``booktabs`` package."""
    lines = [rf"{' & '.join(map(_escaped, line))} \\" for line in grid.lines]
    return "\n".join(
        [
            r"\begin{table*}",
            rf"\caption{{{_escaped(grid.title)}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(grid.head) - 1)}}}",
            r"\toprule",
            rf"{' & '.join(map(_escaped, grid.head))} \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table*}",
        ]
    )


def show(
    grids: Sequence[Grid], note: str, console: Console, *, form: Form = "terminal", file: Path | None = None
) -> None:
    """Prints the tables and a note below them; ``file`` gets them as Markdown."""
    if file is not None:
        write_output(file, _document(grids, note, "markdown").encode())
    if form == "terminal":
        for grid in grids:
            console.print(to_terminal(grid), "")
        console.print(note, highlight=False)
    else:
        console.print(_document(grids, note, form), markup=False, highlight=False, soft_wrap=True, end="")


def _document(grids: Sequence[Grid], note: str, form: Form) -> str:
    made = to_latex if form == "latex" else to_markdown
    last = f"% {note}" if form == "latex" else note
    return "\n\n".join([*map(made, grids), last]) + "\n"


def _escaped(text: str) -> str:
    """As LaTeX writes it.

    >>> _escaped("50% of a_b±1")
    '50\\\\% of a\\\\_b$\\\\pm$1'
    """
    return re.sub("|".join(map(re.escape, _LATEX)), lambda found: _LATEX[found[0]], text)
