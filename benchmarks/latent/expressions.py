"""Arithmetic expressions in x (Kusner et al. 2017): which strings are one, and how far it is from a target.

S → S '+' T | S '*' T | S '/' T | T
T → '(' S ')' | 'sin(' S ')' | 'exp(' S ')' | 'x' | '1' | '2' | '3'
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.places import ROOT
from dissensus.inputs import read_lines

__all__ = ["TARGET", "distance", "is_expression", "read_expressions", "values_of"]

TARGET = "1 / 3 + x + sin( x * x )"
FILE = Path("shared/data/expressions/expressions.txt.gz")
Values: TypeAlias = NDArray[np.float64]
X = np.linspace(-10, 10, 1000)
_OPENING: Mapping[str, Callable[[Values], Values]] = {"(": lambda v: v, "sin(": np.sin, "exp(": np.exp}


def read_expressions(folder: Path | None) -> Sequence[str]:
    """All lines but the target, from a file, ``DISSENSUS_EXPRESSIONS``, or beside the checkout."""
    given = folder or os.environ.get("DISSENSUS_EXPRESSIONS") or ROOT.parent / FILE
    return [line for line in read_lines(given) if line != TARGET]


def is_expression(text: str) -> bool:
    """Whether the grammar makes the text."""
    return values_of(text) is not None


@lru_cache(maxsize=200_000)
def distance(text: str) -> float:
    """log(1 + mean squared difference from the target) over 1,000 values of x in [−10, 10]; inf: no value."""
    found, wanted = values_of(text), values_of(TARGET)
    assert wanted is not None
    if found is None or not np.isfinite(found).all():
        return math.inf
    with np.errstate(over="ignore"):
        return float(np.log1p(np.mean(np.square(np.clip(found, -1e5, 1e5) - wanted))))


def values_of(text: str) -> Values | None:
    """What an expression is at every x, or None for a text that is none."""
    symbols = text.split()
    try:
        with np.errstate(all="ignore"):
            value, place = _sum(symbols, 0)
    except (IndexError, ValueError, RecursionError):
        return None
    return value if place == len(symbols) else None


def _sum(symbols: Sequence[str], place: int) -> tuple[Values, int]:
    value, place = _product(symbols, place)
    while place < len(symbols) and symbols[place] == "+":
        other, place = _product(symbols, place + 1)
        value = value + other
    return value, place


def _product(symbols: Sequence[str], place: int) -> tuple[Values, int]:
    value, place = _term(symbols, place)
    while place < len(symbols) and symbols[place] in ("*", "/"):
        operation: Callable[[Values, Values], Values] = np.multiply if symbols[place] == "*" else np.divide
        other, place = _term(symbols, place + 1)
        value = operation(value, other)
    return value, place


def _term(symbols: Sequence[str], place: int) -> tuple[Values, int]:
    symbol = symbols[place]
    if symbol == "x":
        return X, place + 1
    if symbol in ("1", "2", "3"):
        return np.full_like(X, float(symbol)), place + 1
    inside, end = _sum(symbols, place + 1)
    if symbols[end] != ")":
        raise ValueError("a bracket is left open")
    return np.asarray(_OPENING[symbol](inside)) if symbol in _OPENING else _none(symbol), end + 1


def _none(symbol: str) -> Values:
    raise ValueError(f"{symbol!r} begins nothing")
