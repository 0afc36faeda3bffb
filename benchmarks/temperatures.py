"""How many of the committed runs a limit on the configurational temperature would have called failed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.records import Record, Records
from dissensus.posterior.verdict import FAR, WARM

__all__ = ["temperature_table"]

LIMITS = (WARM, 1.5, FAR, 3.0)


def temperature_table(results: Path) -> str:
    """Of each kind of run the range of temperatures, and how many are off by more than each limit.

    The temperature of a run is that of the part of its model that is farthest off, in the last epoch and in
    the median over chains, which is what records hold.
    """
    kinds: dict[str, dict[str, float]] = {}
    for benchmark in ("paper", "panel"):
        for group, record in Records(results / benchmark).all():
            for told in _runs(record.about):
                # Several records are made of one run.
                found = kinds.setdefault(_kind(benchmark, group, record), {})
                found[json.dumps(told, sort_keys=True)] = _temperature(told)
    limits = " | ".join(f"{limit:g}" for limit in LIMITS)
    lines = [
        f"| runs | how many | temperature | off by more than {limits} |",
        "|---" * (3 + len(LIMITS)) + "|",
    ]
    for kind, by_run in sorted(kinds.items()):
        values = sorted(by_run.values())
        low, high = (f"{value:.2f}".replace("-", "−") for value in (values[0], values[-1]))
        counts = " | ".join(str(sum(not 1 / limit <= value <= limit for value in values)) for limit in LIMITS)
        lines.append(f"| {kind} | {len(values)} | {low} to {high} | {counts} |")
    return "\n".join(lines)


def _runs(about: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The last epochs of all runs that a record speaks of and that sample."""
    if isinstance(about.get("diagnostics"), Mapping):
        last = about["diagnostics"].get("last_epoch")
        if last:
            yield last
    for value in about.values():
        if isinstance(value, Mapping):
            yield from _runs(value)


def _temperature(last: Mapping[str, Any]) -> float:
    """The one that is farthest off; negative ones are farther than all others."""
    every = [numbers["configurational_temperature"] for numbers in last.values()]
    return float(max(every, key=lambda value: max(value, 1 / value) if value > 0 else float("inf")))


def _kind(benchmark: str, group: str, record: Record) -> str:
    """What a line of the table is about."""
    first = record.name.partition("/")[0]
    if group.startswith("selection-"):
        settings = first.partition("+")[2]
        return f"{benchmark}: candidates" + (
            ", Gaussian pixels" if settings == "observation=gaussian" else ""
        )
    if group.startswith("ablation-"):
        change, _, value = first.partition("=")
        changed = change == "observation" and value != "bernoulli"
        return f"panel: {value} pixels" if changed else "panel: `sghmc`, 4 chains"
    if benchmark == "panel":
        return f"panel: `{first}`"
    return f"paper: `{first}`, {'house numbers' if group.startswith('svhn') else 'clothes'}"
