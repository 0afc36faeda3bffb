"""Values and names that trip readers up."""

from __future__ import annotations

from typing import Any

__all__ = ["HOSTILE", "NAMES"]

HOSTILE: list[Any] = [
    None,
    True,
    0,
    -1,
    2**31,
    2**63,
    10**30,
    10**9,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "x" * 100_000,
    "../../../../etc/passwd",
    "__import__('os').system('false')",
    "\x00",
    [],
    {},
    [[[[]]]],
    [10**6] * 3,
    [1] * 5000,
    {"a": {"b": None}},
]
NAMES = [
    "-rf",
    "a\nb",
    "..dots..",
    "$(false)",
    "%s%n",
    "x" * 200,
    "x" * 300,
    "with space",
    "quote'\"",
    "\udcff",
    "ünïcödé",
    "con",
    "*?[x]",
    "~",
    "mnist",
]
