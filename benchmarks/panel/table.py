"""The panel's tables from its records, for the terminal and as Markdown, and ``panel.json``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.decimals import short
from benchmarks.panel.baselines import NO_MODEL, baseline_rows
from benchmarks.panel.configuration import RECOMMENDED
from benchmarks.panel.power import FALSE_DISCOVERY_RATE, MIX
from benchmarks.panel.records import read_rows
from benchmarks.panel.rows import Row
from benchmarks.panel.summary import Pair, Summary, measured_by_all, pairs, summarise
from benchmarks.records import Records
from dissensus.destination import write_output

__all__ = [
    "Grid",
    "baseline_grid",
    "panel_tables",
    "show_panel",
    "summary_grid",
    "to_markdown",
    "to_terminal",
    "write_panel",
]

NOTE = (
    "AUROC unless said otherwise. far: other datasets, noise, constants, and inverted grey images; near: "
    "held-out classes; made-up: other made-up outliers. FPR: share of outliers accepted where that share of "
    "the inliers is. BH: share of outliers that Benjamini–Hochberg finds at a false discovery rate of "
    f"{FALSE_DISCOVERY_RATE:.0%} ({MIX}). false: share of inliers among those it flags, where at most 9% is "
    "expected. rank: mean over pairs of the rank by AUROC within this table."
)
SHOWN = 20  # lines of a table in the terminal
LEFT_OUT = ("FPR80", "where worst")  # there, for 80 columns


@dataclass(frozen=True)
class Grid:
    """A table as words."""

    title: str
    head: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    whole: bool = False
    """Whether the terminal shows all lines of it."""


def write_panel(output: Path, *, quick: bool) -> list[Row]:
    """``panel.json``: a flat list of objects, one a row, with the record each is from."""
    found = [(row, path) for row, path, _ in read_rows(output, "records", quick=quick)]
    found += [(row, f"{row.inliers}.jsonl") for row in baseline_rows(Records(output, quick=quick))]
    if found:
        flat = [{**asdict(row), "quick": quick, "record": path} for row, path in found]
        write_output(output / "panel.json", _lines(flat).encode())
    return [row for row, _ in found]


def panel_tables(rows: Sequence[Row], *, quick: bool) -> list[Grid]:
    """The recommended detector pair by pair; its posterior's scores; its score's posteriors; all together."""
    mark = " (QUICK: not a result)" if quick else ""
    posterior, score = RECOMMENDED.posterior, RECOMMENDED.score
    baselines = [row for row in rows if row.posterior == NO_MODEL]
    rows = [row for row in rows if row.posterior != NO_MODEL]
    recommended = [row for row in rows if row.recommended]
    tables = []
    if recommended:
        tables.append(
            Grid(
                f"Recommended: {posterior}, {score}{mark}",
                ("", "kind", "AUROC", "FPR80", "FPR95", "BH / false"),
                tuple(
                    (
                        pair.title,
                        pair.kind,
                        short(pair.auroc) + ("" if pair.spread is None else f"±{short(pair.spread)}"),
                        short(pair.fpr80_in),
                        short(pair.fpr95_in),
                        _power(pair),
                    )
                    for pair in pairs(recommended, grouped=True)
                ),
                whole=True,
            )
        )
    if recommended and baselines:
        tables.append(baseline_grid(f"Beside simple baselines{mark}", rows, baselines))
    own_posterior = [row for row in rows if row.posterior == posterior]
    shared = measured_by_all(rows)
    where = _places(shared)
    for title, chosen, name in (
        (f"Scores of {posterior}", own_posterior, "score"),
        (f"Posteriors under {score}, {where}", [row for row in shared if row.score == score], "posterior"),
        (f"Posteriors and scores, {where}", shared, "both"),
    ):
        # One line, or the same lines once more, say nothing.
        if len({row.posterior for row in chosen}) > (name != "score"):
            tables.append(summary_grid(title + mark, summarise(chosen), name))
    return tables


def baseline_grid(title: str, rows: Sequence[Row], baselines: Sequence[Row]) -> Grid:
    """The recommended detector and every baseline, with the power and the realised error of each.

    Only sets and seeds for which baselines were measured are compared, so that every number of a line is of
    the same images.
    """
    places = {(row.inliers, row.outliers, row.seed) for row in baselines}
    alike = [row for row in rows if row.recommended and (row.inliers, row.outliers, row.seed) in places]
    names = list(dict.fromkeys(row.score for row in baselines))
    methods = [alike, *([row for row in baselines if row.score == name] for name in names)]
    by_title = [{pair.title: pair for pair in pairs(own, grouped=True)} for own in methods]
    lines = tuple(
        (pair.title, pair.kind, *(_compared(found.get(pair.title)) for found in by_title))
        for pair in by_title[0].values()
    )
    return Grid(title, ("", "kind", RECOMMENDED.score, *names), lines, whole=True)


def _compared(pair: Pair | None) -> str:
    """As in ``.986 · .786 (.152)``: AUROC, the share found, and the share of inliers among the flagged."""
    if pair is None:
        return "–"
    return f"{short(pair.auroc)} · {short(pair.bh_power)} ({short(pair.bh_false)})"


def _power(pair: Pair) -> str:
    """As in ``.786 / .152``: the share found, and beside it the share of inliers among the flagged."""
    return f"{short(pair.bh_power)} / {short(pair.bh_false)}"


def _places(rows: Sequence[Row]) -> str:
    """As in ``4 sets, seed 0``: what rows are of, for a title."""
    sets, seeds = len({row.inliers for row in rows}), sorted({row.seed for row in rows})
    return (
        f"{sets} {'set' if sets == 1 else 'sets'}, "
        f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}"
    )


def summary_grid(title: str, summaries: Iterable[Summary], name: str = "both") -> Grid:
    """One line a posterior and score."""
    lines = []
    for each in summaries:
        both = f"{each.posterior} {each.score}".replace("+", " ")  # so that it may be broken
        label = {"score": each.score, "posterior": each.posterior}.get(name, both)
        areas = (each.mean, each.far, each.worst_far, each.near, each.made_up)
        rates = (each.fpr80_in, each.fpr95_in, each.bh_power)
        lines.append((label, *map(short, (*areas, *rates)), f"{each.rank:.1f}", each.worst_far_pair))
    head = ("", "mean", "far", "worst far", "near", "made-up", "FPR80", "FPR95", "BH", "rank", "where worst")
    return Grid(title, head, tuple(lines))


def to_terminal(grid: Grid) -> Table:
    """For the terminal."""
    shown = grid.lines if grid.whole else grid.lines[:SHOWN]
    left = len(grid.lines) - len(shown)
    more = f"and {left} more" if left else None
    table = Table(title=grid.title, title_justify="left", pad_edge=False, padding=(0, 1, 0, 0), caption=more)
    columns = [number for number, name in enumerate(grid.head) if name not in LEFT_OUT]
    for number in columns:
        left_aligned = number == 0 or grid.head[number] == "kind"
        table.add_column(grid.head[number], justify="left" if left_aligned else "right")
    for line in shown:
        table.add_row(*(line[number] for number in columns))
    return table


def to_markdown(grids: Sequence[Grid]) -> str:
    """For documents."""
    parts = []
    for grid in grids:
        heads = [f"| {' | '.join(grid.head)} |", "|---" * len(grid.head) + "|"]
        lines = [f"| {' | '.join(line)} |" for line in grid.lines]
        parts.append("\n".join([f"### {grid.title}", "", *heads, *lines]))
    return "\n\n".join([*parts, NOTE]) + "\n"


def show_panel(output: Path, console: Console, *, quick: bool) -> None:
    """Prints the tables; ``panel.json`` and ``panel.md`` are written."""
    rows = write_panel(output, quick=quick)
    if not rows:
        console.print(f"There are no records in {output} yet: run the benchmark first.")
        return
    grids = panel_tables(rows, quick=quick)
    for grid in grids:
        console.print(to_terminal(grid))
    console.print(NOTE, highlight=False)
    write_output(output / "panel.md", to_markdown(grids).encode())


def _lines(flat: Sequence[dict[str, object]]) -> str:
    """A list with one object a line: thousands of them, and still to be read and compared."""
    return "[\n" + ",\n".join(json.dumps(each, allow_nan=False) for each in flat) + "\n]\n"
