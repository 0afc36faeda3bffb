"""Numbers of the service that documents name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from benchmarks.filling.registry import Number, Table
from benchmarks.records import Records
from benchmarks.rows import by_part
from benchmarks.service.attack_table import attack_table
from benchmarks.service.command import GROUP, THROUGHPUT

__all__ = ["NUMBERS", "TABLES"]


def _cost(results: Path, whose: str) -> float:
    """Milliseconds of processor time a request."""
    part = by_part(Records(results / "service").read(THROUGHPUT)[0])["throughput"]
    return 1e3 * float(part[f"{whose}_processor_seconds"]) / float(part["requests"])


def _throughput(results: Path, name: str) -> float:
    return float(by_part(Records(results / "service").read(THROUGHPUT)[0])["throughput"][name])


def _told(results: Path, part: str, name: str) -> float:
    return float(by_part(Records(results / "service").read(GROUP)[0])[part][name])


NUMBERS: Mapping[str, Number] = {
    "minutes": lambda results: Records(results / "service").read(GROUP)[0].seconds["all"] / 60,
    "clients": partial(_told, part="throughput", name="clients"),
    "answers": partial(_told, part="throughput", name="inputs_a_second"),
    "share": partial(_told, part="throughput", name="share_of_library"),
    "p99": partial(_told, part="throughput", name="p99_seconds"),
    "cost.server": partial(_cost, whose="server"),
    "cost.clients": partial(_cost, whose="clients"),
    "cost.answers": partial(_throughput, name="inputs_a_second"),
    "cost.p99": partial(_throughput, name="p99_seconds"),
    "cost.load": partial(_throughput, name="load_average"),
    "cost.most": lambda results: 2e3 / _cost(results, "server"),
    "overload.clients": partial(_told, part="overload", name="clients"),
    "overload.queue": partial(_told, part="overload", name="queue"),
    "memory.requests": partial(_told, part="memory", name="requests"),
    "memory.growth": partial(_told, part="memory", name="growth_mib"),
}
TABLES: Mapping[str, Table] = {"attacks": lambda results: attack_table(results / "service")}
