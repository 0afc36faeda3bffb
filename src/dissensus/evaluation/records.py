"""Measurements as JSON files: settings, environment, seeds and numbers, in the order they were given."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from dissensus.destination import write_output
from dissensus.errors import DataError, not_written

__all__ = ["read_records", "write_record"]


def write_record(path: str | os.PathLike[str], payload: Mapping[str, Any]) -> None:
    """Write the payload as JSON: whole or not at all, with missing folders made and an older record replaced.

    The file holds the payload and nothing else: keys in the order given, floats with all their digits, NumPy
    numbers and arrays as plain numbers and lists. What JSON cannot say (NaN, infinity, other objects) is
    refused with the key it stands under, before anything is written.
    """
    text = json.dumps(_plain(payload, ""), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        Path(os.path.realpath(path)).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(path, error) from error
    write_output(path, text.encode())


def read_records(folder: str | os.PathLike[str]) -> dict[str, dict[str, Any]]:
    """Every record in the folder and below it, by path relative to the folder, in sorted order."""
    root = Path(folder)
    if not root.is_dir():
        raise DataError(f"{root}: there is no such folder of records; run a benchmark first, or name another")
    return {file.relative_to(root).as_posix(): _read(file) for file in sorted(root.rglob("*.json"))}


def _read(file: Path) -> dict[str, Any]:
    try:
        record = json.loads(file.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except (OSError, ValueError) as error:
        raise DataError(f"{file}: not a readable record ({error}); delete it or measure again") from error
    if not isinstance(record, dict):
        raise DataError(f"{file}: a record is a JSON object, not a {type(record).__name__}; remove the file")
    return record


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _plain(value: Any, where: str) -> Any:
    """The value in JSON's own types; ``where`` is its path of keys, for the error message."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise DataError(
                    f"record{where}: the key {key!r} is not a string; JSON objects have no other keys"
                )
        return {key: _plain(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{where}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise DataError(f"record{where} is {value}, which JSON cannot hold; leave it out or write None")
    if value is None or isinstance(value, str | int | float):
        return value
    raise DataError(f"record{where} is a {type(value).__name__}, which JSON cannot hold; convert it first")
