"""How much a gate's files may claim before they are parsed: bytes, values, nesting and tensors.

Parsers take memory and time by what a file says, so what it says is counted in its bytes first. Brackets and
commas are counted, which no escape can hide; those within texts count too, and there is room for them.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["JSONLimits", "check_header", "check_json", "check_size", "read_json"]

DEEPEST = 32  # lists and mappings within each other; a gate has 6
LARGEST_HEADER = 1 << 22  # bytes; of the weights of ten thousand layers it takes half
MOST_TENSORS = 1 << 14


@dataclass(frozen=True)
class JSONLimits:
    """The most that one JSON file may hold."""

    size: int
    """Bytes."""
    values: int


def read_json(path: Path, limits: JSONLimits) -> Any:
    """Return what a JSON file says; raises ValueError if that is too much, before it is parsed or after."""
    size = path.stat().st_size
    check_size(size, limits)
    with path.open("rb") as file:
        content = file.read(size)  # no more, should it grow meanwhile
    check_json(content, limits)
    found = json.loads(content.decode("utf-8"))
    _check_nesting(found)
    return found


def check_json(content: bytes, limits: JSONLimits) -> None:
    """Raises ValueError if the text of a JSON file is too long or holds too many values."""
    check_size(len(content), limits)
    if sum(map(content.count, (b"[", b"{", b","))) > limits.values:
        raise ValueError(f"it holds more than {limits.values} values")


def check_size(size: int, limits: JSONLimits) -> None:
    """Raises ValueError if a JSON file of so many bytes is too long to be read."""
    if size > limits.size:
        raise ValueError(f"it is larger than {limits.size >> 20} MiB")


def check_header(path: Path) -> None:
    """Raises ValueError if a safetensors file has a header that would take long, or much, to parse.

    What is shorter than its header says is left to those who check digests, and to safetensors itself.
    """
    with path.open("rb") as file:
        start = file.read(8)
        size = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
        if size > path.stat().st_size:
            return
        if size > LARGEST_HEADER:
            raise ValueError(f"its header claims {size} bytes, more than {LARGEST_HEADER >> 20} MiB")
        # Every tensor is a mapping within a mapping, and there may be one of remarks.
        if file.read(size).count(b"{") > MOST_TENSORS + 2:
            raise ValueError(f"it claims more than {MOST_TENSORS} tensors")


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _check_nesting(value: Any) -> None:
    # Level by level: a function that calls itself could be brought to its limit, as whoever writes JSON is.
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return
    raise ValueError(f"it is nested more than {DEEPEST} deep")
