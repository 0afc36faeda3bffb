"""Table 1 from records: ours beside the paper's, with the difference, as terminal, Markdown and LaTeX."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from rich import box
from rich.table import Table

from benchmarks.decimals import short
from benchmarks.paper.benchmarks import GROUPS
from benchmarks.paper.methods import METHODS
from benchmarks.paper.presets import PRESETS
from benchmarks.paper.published import COLUMNS, COMPARED_WITH, PUBLISHED
from benchmarks.paper.records import RecordKey, read_all, record_path
from dissensus.destination import write_output
from dissensus.evaluation import write_record

__all__ = ["Cell", "Row", "cells", "collect", "latex", "markdown", "terminal", "write_rows"]

METRICS = ("auroc", "auprc_out", "fpr80_out")
_PRINTED = {"auroc": "auroc", "auprc_out": "auprc", "fpr80_out": "fpr80"}
_HEADS = {"auroc": "AUROC", "auprc_out": "AUPRC", "fpr80_out": "FPR80"}
_ARROWS = {"auroc": "↑", "auprc_out": "↑", "fpr80_out": "↓"}


@dataclass(frozen=True)
class Row:
    """One measurement, flat."""

    benchmark: str
    method: str
    preset: str
    seed: int
    auroc: float
    auprc_in: float
    auprc_out: float
    fpr80_in: float
    fpr80_out: float
    record: str


@dataclass(frozen=True)
class Cell:
    """One number of the table: mean and spread over seeds, and the paper's."""

    mean: float
    spread: float | None
    """Standard deviation over seeds; None for a single one."""
    seeds: int
    published: float

    @property
    def difference(self) -> float:
        """Ours minus the paper's."""
        return self.mean - self.published

    @property
    def text(self) -> str:
        """As in ``.921±.003``."""
        return short(self.mean) + ("" if self.spread is None else f"±{short(self.spread)}")


def collect(output: Path, *, quick: bool) -> list[Row]:
    """Every record as a row; a group's mean gets a record of its own once all its members are there."""
    records = {
        RecordKey(r["benchmark"], r["method"], r["preset"], r["seed"]): (path, r)
        for path, r in read_all(output, quick=quick)
        if r["benchmark"] not in GROUPS
    }
    rows = {key: _row(key, record["metrics"], path) for key, (path, record) in records.items()}
    for group, members in GROUPS.items():
        others = dict.fromkeys(
            (key.method, key.preset, key.seed) for key in records if key.benchmark in members
        )
        for method, preset, seed in others:
            keys = [RecordKey(member, method, preset, seed) for member in members]
            if all(key in records for key in keys):
                mean_key = RecordKey(group, method, preset, seed)
                rows[mean_key] = _write_mean(output, mean_key, [records[key] for key in keys], quick)
    order = {name: number for number, name in enumerate((*COLUMNS, *(m for g in GROUPS.values() for m in g)))}
    methods = list(METHODS)
    return sorted(
        rows.values(), key=lambda row: (order[row.benchmark], row.preset, methods.index(row.method), row.seed)
    )


def write_rows(output: Path, rows: Sequence[Row]) -> Path:
    """``table1.json``: a flat list of objects."""
    path = output / "table1.json"
    output.mkdir(parents=True, exist_ok=True)
    write_output(path, json.dumps([asdict(row) for row in rows], indent=1).encode() + b"\n")
    return path


def cells(rows: Sequence[Row]) -> dict[tuple[str, str, str, str], Cell]:
    """The table's numbers by preset, method, benchmark and metric."""
    found: dict[tuple[str, str, str, str], Cell] = {}
    for preset in PRESETS:
        for (benchmark, method), printed in PUBLISHED.items():
            own = [
                row for row in rows if (row.preset, row.benchmark, row.method) == (preset, benchmark, method)
            ]
            for metric in METRICS if own else ():
                values = [getattr(row, metric) for row in own]
                spread = stdev(values) if len(values) > 1 else None
                published = getattr(printed, _PRINTED[metric])
                found[preset, method, benchmark, metric] = Cell(fmean(values), spread, len(values), published)
    return found


def terminal(rows: Sequence[Row], *, quick: bool) -> list[Table]:
    """For the terminal, narrow enough for 80 columns: a table for each preset and benchmark."""
    found = cells(rows)
    tables = []
    for preset in _presets(found):
        for benchmark, title in COLUMNS.items():
            if not any((preset, benchmark) == (key[0], key[2]) for key in found):
                continue
            table = Table(
                title=f"{_title(preset, quick)}: {title}",
                title_justify="left",
                box=box.SIMPLE_HEAD,
                show_edge=False,
                padding=(0, 1, 0, 0),
                pad_edge=False,
            )
            table.add_column("", no_wrap=True)
            for metric in METRICS:
                table.add_column(f"{_HEADS[metric]} {_ARROWS[metric]}", justify="right", no_wrap=True)
                table.add_column("paper", justify="right", style="dim", no_wrap=True)
                table.add_column("Δ", justify="right", no_wrap=True)
            for method in METHODS.values():
                shown: list[str] = []
                for cell in (found.get((preset, method.name, benchmark, metric)) for metric in METRICS):
                    shown += ["–"] * 3 if cell is None else [cell.text, short(cell.published), _signed(cell)]
                table.add_row(method.label, *shown)
            tables.append(table)
    return tables


def markdown(rows: Sequence[Row], *, quick: bool) -> str:
    """For documents: a table a preset; each cell holds ours, the paper's and the difference."""
    found = cells(rows)
    parts = []
    for preset in _presets(found):
        heads = [f"{title}<br>{_HEADS[m]} {_ARROWS[m]}" for title in COLUMNS.values() for m in METRICS]
        lines = [
            f"### {_title(preset, quick)}",
            "",
            "| | " + " | ".join(heads) + " |",
            "|---" * (len(heads) + 1) + "|",
        ]
        for method in METHODS.values():
            entries = [found.get((preset, method.name, b, m)) for b in COLUMNS for m in METRICS]
            shown = [
                "–" if cell is None else f"**{cell.text}** ({short(cell.published)}, {_signed(cell)})"
                for cell in entries
            ]
            lines.append(f"| {method.label} | " + " | ".join(shown) + " |")
        parts.append("\n".join(lines))
    note = f"Ours in bold (± standard deviation over {_seeds(found)}), then the paper's and the difference."
    return "\n\n".join([*parts, f"{note} {COMPARED_WITH}"]) + "\n"


def latex(rows: Sequence[Row], *, quick: bool) -> str:
    r"""For papers: one ``table*`` a preset, for the ``booktabs`` package."""
    found = cells(rows)
    parts = []
    for preset in _presets(found):
        groups = " & ".join(rf"\multicolumn{{3}}{{c}}{{{title}}}" for title in COLUMNS.values())
        heads = " & ".join(_HEADS[metric] for _ in COLUMNS for metric in METRICS)
        lines = [
            r"\begin{table*}",
            rf"\caption{{{_title(preset, quick)}: ours, the paper's below it, and the difference.}}",
            rf"\begin{{tabular}}{{l{'ccc' * len(COLUMNS)}}}",
            r"\toprule",
            rf"& {groups} \\",
            rf"& {heads} \\",
            r"\midrule",
        ]
        for method in METHODS.values():
            entries = [found.get((preset, method.name, b, m)) for b in COLUMNS for m in METRICS]
            ours = ["--" if cell is None else f"${_latex_number(cell)}$" for cell in entries]
            theirs = [
                "" if cell is None else rf"{{\footnotesize ${short(cell.published)}\ ({_signed(cell)})$}}"
                for cell in entries
            ]
            label = method.label.replace("₁", "$_1$").replace("₂", "$_2$")
            lines += [rf"{label} & {' & '.join(ours)} \\", rf"& {' & '.join(theirs)} \\"]
        parts.append("\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table*}"]))
    return "\n\n".join([f"% {COMPARED_WITH}", *parts]) + "\n"


def _row(key: RecordKey, metrics: Mapping[str, Any], path: str) -> Row:
    names = ("auroc", "auprc_in", "auprc_out", "fpr80_in", "fpr80_out")
    return Row(**asdict(key), **{name: metrics[name] for name in names}, record=path)


def _write_mean(
    output: Path, key: RecordKey, members: Sequence[tuple[str, Mapping[str, Any]]], quick: bool
) -> Row:
    metrics = {
        name: fmean(record["metrics"][name] for _, record in members) for name in members[0][1]["metrics"]
    }
    path = record_path(output, key)
    write_record(
        path,
        {
            **asdict(key),
            "quick": quick,
            "metrics": metrics,
            "mean_of": [name for name, _ in members],
        },
    )
    return _row(key, metrics, path.relative_to(output).as_posix())


def _presets(found: Mapping[tuple[str, str, str, str], Cell]) -> list[str]:
    return [preset for preset in PRESETS if any(key[0] == preset for key in found)]


def _seeds(found: Mapping[tuple[str, str, str, str], Cell]) -> str:
    counts = sorted({cell.seeds for cell in found.values()}) or [0]
    number = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
    return f"{number} seed" if number == "1" else f"{number} seeds"


def _title(preset: str, quick: bool) -> str:
    return f"Table 1, {preset}" + (" (QUICK: not a result)" if quick else "")


def _signed(cell: Cell) -> str:
    """The difference, as in +.012."""
    return f"{cell.difference:+.3f}".replace("0.", ".", 1)


def _latex_number(cell: Cell) -> str:
    return cell.text.replace("±", r"\pm ")
