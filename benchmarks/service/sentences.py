"""The record of the service in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.records import Record
from benchmarks.rows import by_part

__all__ = ["service_sentences"]


def service_sentences(record: Record) -> list[str]:
    """One sentence a part; what was not kept says so."""
    parts = by_part(record)
    one, several, overload = parts["throughput"], parts["several_a_request"], parts["overload"]
    swap, end, memory, library = parts["swap"], parts["termination"], parts["memory"], parts["library"]
    runs = [*library["before"], *library["after"]]
    return [
        f"The library alone, {library['inputs']} pictures at once on {library['cores']} cores: "
        f"{library['inputs_a_second']:.1f} a second, the median of {len(runs)} runs from {min(runs):.1f} to "
        f"{max(runs):.1f} before and after the two below.",
        f"{one['clients']} clients with one picture a request: {one['inputs_a_second']:.1f} a second, "
        f"{one['share_of_library']:.0%} of the library's (goal {one['goal']:.0%}); median "
        f"{_ms(one['p50_seconds'])}, 99% within {_ms(one['p99_seconds'])}, bound {_ms(one['bound_seconds'])}"
        + _verdict(one),
        f"Eight pictures a request: {several['inputs_a_second']:.1f} a second, "
        f"{several['share_of_library']:.0%} of the library's; 99% within {_ms(several['p99_seconds'])}"
        + _verdict(several),
        f"Overload, {overload['clients']} clients and a queue of {overload['queue']}: "
        f"{_statuses(overload)}" + _verdict(overload),
        f"Gate replaced while asked: {swap['versions']} versions, {_statuses(swap)}" + _verdict(swap),
        f"SIGTERM while asked: {_statuses(end)}, exit code {end['exit_code']}" + _verdict(end),
        f"Memory over {memory['requests']} requests (gate: {memory['gate']}): {memory['settled_mib']:.0f} "
        f"MiB after a tenth of them, and {memory['growth_mib']:.1f} more at most later" + _verdict(memory),
        _whole(parts, record.seconds["all"]),
    ]


def _whole(parts: Mapping[str, Mapping[str, Any]], seconds: float) -> str:
    missed = [name for name, part in parts.items() if part.get("kept") is False]
    minutes = f"{seconds / 60:.1f} minutes"
    return (
        f"All kept, in {minutes}." if not missed else f"Measured in {minutes}; NOT KEPT: {', '.join(missed)}."
    )


def _statuses(part: Mapping[str, Any]) -> str:
    counts = ", ".join(f"{count} × {status}" for status, count in part["statuses"].items())
    return f"{counts}; {part['lost']} lost, {part['wrong']} wrong"


def _ms(seconds: float | None) -> str:
    return "–" if seconds is None else f"{1000 * seconds:.0f} ms"


def _verdict(part: Mapping[str, Any]) -> str:
    return "." if part["kept"] else ": NOT KEPT."
