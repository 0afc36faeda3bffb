"""Numbers of the service that documents name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from benchmarks.filling.registry import Number, Table
from benchmarks.records import Records
from benchmarks.rows import by_part
from benchmarks.service.attack_table import attack_table
from benchmarks.service.command import GROUP

__all__ = ["NUMBERS", "TABLES"]


def _told(results: Path, part: str, name: str) -> float:
    return float(by_part(Records(results / "service").read(GROUP)[0])[part][name])


NUMBERS: Mapping[str, Number] = {
    "minutes": lambda results: Records(results / "service").read(GROUP)[0].seconds["all"] / 60,
    "clients": partial(_told, part="throughput", name="clients"),
    "answers": partial(_told, part="throughput", name="inputs_a_second"),
    "share": partial(_told, part="throughput", name="share_of_library"),
    "p99": partial(_told, part="throughput", name="p99_seconds"),
    "overload.clients": partial(_told, part="overload", name="clients"),
    "overload.queue": partial(_told, part="overload", name="queue"),
    "memory.requests": partial(_told, part="memory", name="requests"),
    "memory.growth": partial(_told, part="memory", name="growth_mib"),
}
TABLES: Mapping[str, Table] = {"attacks": lambda results: attack_table(results / "service")}
