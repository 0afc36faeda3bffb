"""What a measurement leaves behind, the same for every benchmark: a record, one line of a JSON Lines file.

A file holds the records of one group, such as ``results/paper/fashion-mnist-vs-mnist.jsonl``. Tables and
figures are made from records alone; raw scores and matrices are caches that nobody commits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from dissensus.destination import write_output
from dissensus.errors import DataError
from dissensus.evaluation import environment
from dissensus.lock import Claim

__all__ = ["Record", "Records", "digest"]

DIGITS = 6  # more than any number here is sure of
ROW_DIGITS = 8  # in rows, which are ranked: the AUROC of ten million pairs is a multiple of 10⁻⁷
PATIENCE = 60.0  # seconds; another process that writes a record is done in much less


@dataclass(frozen=True)
class Record:
    """One run of one benchmark: what was asked, what it was measured with, what came out."""

    name: str
    """What was measured; with the seed, the only one of this name in its group."""
    seed: int | None
    settings: Mapping[str, Any]
    """All that the numbers depend on: a record of other settings is another measurement."""
    rows: Sequence[Mapping[str, Any]]
    """The numbers, in rows of the same columns."""
    seconds: Mapping[str, float]
    about: Mapping[str, Any] = field(default_factory=dict)
    """What else is known: diagnostics, notes, histograms for a figure."""
    environment: Mapping[str, Any] = field(default_factory=environment)
    """Hardware, versions and commit."""
    quick: bool = False
    """Measured on a little of the data, to try the benchmark out: not a result."""


class Records:
    """The records of a benchmark, in a folder of their own."""

    def __init__(self, folder: Path, *, quick: bool = False) -> None:
        self.folder, self.quick = folder, quick

    def groups(self) -> list[str]:
        """The names of the groups there are."""
        return sorted(path.stem for path in self.folder.glob("*.jsonl"))

    def read(self, group: str) -> list[Record]:
        """All of a group, by name and seed; none where there is no such group.

        Quick records and full ones are never read together.
        """
        path = self._path(group)
        if not path.exists():
            return []
        found = list(_read(path, _version(path)))
        if any(record.quick is not self.quick for record in found):
            kind = "full" if self.quick else "quick"
            raise DataError(f"{path} holds {kind} records; keep quick and full ones in folders of their own")
        return found

    def all(self) -> Iterator[tuple[str, Record]]:
        """Every record with its group."""
        for group in self.groups():
            for record in self.read(group):
                yield group, record

    def find(self, group: str, name: str, seed: int | None, settings: Mapping[str, Any]) -> Record | None:
        """The record of this name, seed and settings, if it was measured."""
        wanted = digest(settings)
        for record in self.read(group):
            if (record.name, record.seed) == (name, seed) and digest(record.settings) == wanted:
                return record
        return None

    def add(self, group: str, record: Record) -> None:
        """Writes a record in place of the one of its name and seed; the file is whole or as it was."""
        if record.quick is not self.quick:
            raise ValueError("a record is kept among those of its kind")
        path = self._path(group)
        path.parent.mkdir(parents=True, exist_ok=True)
        with Claim(path, patience=PATIENCE):
            kept = {(each.name, each.seed): each for each in self.read(group)}
            kept[record.name, record.seed] = record
            ordered = sorted(
                kept.values(), key=lambda each: (each.name, -1 if each.seed is None else each.seed)
            )
            write_output(path, "".join(_line(each) for each in ordered).encode())

    def _path(self, group: str) -> Path:
        return self.folder / f"{group}.jsonl"


def digest(settings: Mapping[str, Any]) -> str:
    """A short name of settings, the same for those read back from a record.

    >>> digest({"draws": 20, "widths": (32, 64)}) == digest({"widths": [32, 64], "draws": 20.0})
    True
    """
    text = json.dumps(_plain(settings, "settings"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _line(record: Record) -> str:
    columns = list(dict.fromkeys(name for row in record.rows for name in row))
    payload = {
        "name": record.name,
        "seed": record.seed,
        "quick": record.quick,
        "settings": record.settings,
        # By columns, so that their names are written once.
        "rows": _plain(
            {name: [row.get(name) for row in record.rows] for name in columns},
            f"{record.name}.rows",
            ROW_DIGITS,
        ),
        "about": record.about,
        "seconds": record.seconds,
        "environment": record.environment,
    }
    plain = {
        name: value if name == "rows" else _plain(value, f"{record.name}.{name}")
        for name, value in payload.items()
    }
    return json.dumps(plain, ensure_ascii=False, allow_nan=False) + "\n"


def _version(path: Path) -> tuple[int, ...]:
    """What changes with every writing of a file, which leaves another file in its place."""
    about = path.stat()
    return about.st_mtime_ns, about.st_ino, about.st_size


@lru_cache(maxsize=64)
def _read(path: Path, _: tuple[int, ...]) -> tuple[Record, ...]:
    """Every record of a file, once for the hundreds of numbers that are made of it."""
    return tuple(_parsed(path, number, line) for number, line in enumerate(_lines(path), 1))


def _parsed(path: Path, number: int, line: str) -> Record:
    try:
        fields = json.loads(line, parse_constant=_refuse_constant)
        columns = fields.pop("rows")
        rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        return Record(rows=rows, **fields)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(
            f"{path}, line {number}: not a readable record ({error}); delete the line and measure again"
        ) from error


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read ({error}); delete it and measure again") from error


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _plain(value: Any, where: str, digits: int = DIGITS) -> Any:
    """The value in JSON's own types, numbers with as many digits as they are worth."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(item, f"{where}.{key}", digits) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{where}[{index}]", digits) for index, item in enumerate(value)]
    if isinstance(value, float):
        if not np.isfinite(value):
            raise DataError(f"{where} is {value}, which JSON cannot hold; leave it out or write None")
        rounded = float(f"{value:.{digits}g}")
        return int(rounded) if rounded.is_integer() and abs(rounded) < 10**DIGITS else rounded
    if value is None or isinstance(value, str | int):
        return value
    raise DataError(f"{where} is a {type(value).__name__}, which JSON cannot hold; convert it first")
