"""How many of the committed runs would have been called failed, by limits on temperatures and by drift."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.records import Record, Records
from dissensus.posterior.settling import FEWEST, change
from dissensus.posterior.verdict import FAR, WARM

__all__ = ["temperature_table"]

LIMITS = (WARM, 1.5, FAR, 3.0)


def temperature_table(results: Path) -> str:
    """Of each kind of run the range of temperatures, and how many are off by more than each limit.

    The temperature of a run is that of the part of its model that is farthest off, in the last epoch and in
    the median over chains, which is what records hold. Its change is that of the mean over chains.
    """
    kinds: dict[str, dict[str, tuple[float, tuple[float, bool] | None]]] = {}
    for benchmark in ("paper", "panel"):
        for group, record in Records(results / benchmark).all():
            for told in _runs(record.about):
                # Several records are made of one run.
                found = kinds.setdefault(_kind(benchmark, group, record), {})
                key = json.dumps(told["last_epoch"], sort_keys=True)
                found[key] = _temperature(told["last_epoch"]), _change(record, told)
    limits = " | ".join(f"{limit:g}" for limit in LIMITS)
    lines = [
        f"| runs | how many | temperature | off by more than {limits} | change, nats | drift |",
        "|---" * (5 + len(LIMITS)) + "|",
    ]
    for kind, by_run in sorted(kinds.items()):
        values = [temperature for temperature, _ in by_run.values()]
        counts = " | ".join(str(sum(not 1 / limit <= value <= limit for value in values)) for limit in LIMITS)
        changes = [own for _, own in by_run.values() if own is not None]
        moved = _range([by for by, _ in changes], 1) if changes else "–"
        drifting = sum(drifts for _, drifts in changes) if changes else "–"
        lines.append(f"| {kind} | {len(values)} | {_range(values, 2)} | {counts} | {moved} | {drifting} |")
    return "\n".join(lines)


def _range(values: list[float], digits: int) -> str:
    return " to ".join(f"{value:.{digits}f}".replace("-", "−") for value in (min(values), max(values)))


def _runs(about: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What the sampler said of all runs that a record speaks of and that sample."""
    if isinstance(about.get("diagnostics"), Mapping) and about["diagnostics"].get("last_epoch"):
        yield about["diagnostics"]
    for value in about.values():
        if isinstance(value, Mapping):
            yield from _runs(value)


def _change(record: Record, told: Mapping[str, Any]) -> tuple[float, bool] | None:
    """By how much held-out inputs became likelier over the epochs that gave draws; whether that is drift."""
    sampling = next(_samplings(record.settings), None)
    if sampling is None:
        return None
    epochs, burn_in, thinning = (sampling[name] for name in ("epochs", "burn_in", "thinning"))
    cycle = sampling.get("rule", sampling.get("decoder", {})).get("cycle") or epochs
    seen = [
        value
        for epoch, value in enumerate(told.get("held_out_log_likelihood", ()))
        if (since := epoch % cycle + 1 - burn_in) >= 0 and since % thinning == 0
    ]
    return change(seen) if len(seen) >= FEWEST and None not in seen else None


def _samplings(settings: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schedules that a record's settings speak of."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            if name == "sampling":
                yield value
            else:
                yield from _samplings(value)


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
