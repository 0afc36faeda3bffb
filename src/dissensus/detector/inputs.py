"""How many inputs a detector works on at once, and the parts in which it is asked about larger sets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dissensus.errors import DataError
from dissensus.inputs import Chunk, Prepared, Preprocessor, in_memory, open_stream

__all__ = ["chunk_rows", "prepared", "scoring_batches"]

CHUNK_NUMBERS, CHUNK_ROWS = 1 << 22, 8192  # worked on at once: at most so many numbers, and so many inputs


def chunk_rows(shape: tuple[int, ...]) -> int:
    """How many inputs of a shape are worked on at once.

    >>> chunk_rows((10,)), chunk_rows((28, 28, 1)), chunk_rows((512, 512, 3))
    (8192, 5349, 16)
    """
    return min(CHUNK_ROWS, max(16, CHUNK_NUMBERS // int(np.prod(shape))))


def prepared(preprocessor: Preprocessor, chunk: Chunk, on_error: Literal["raise", "skip"]) -> Prepared:
    """Read a chunk's inputs; with ``on_error="raise"`` those that cannot be scored are an error."""
    if chunk.problems and isinstance(chunk.inputs, np.ndarray):
        found = _despite(preprocessor, chunk)
    else:
        found = preprocessor.read(chunk.inputs)  # a table's problems are among its own
    if on_error == "raise":
        found.refuse_problems(chunk.names)
    return found


def scoring_batches(preprocessor: Preprocessor, X: Any) -> Iterator[Prepared]:
    """Read all inputs, each of which must be usable; what is not an array in memory in parts."""
    if isinstance(X, Prepared):
        yield X
        return
    if in_memory(X):
        found = preprocessor.read(X)
        found.refuse_problems(range(len(found)))
        yield found
        return
    empty = True

    def read(chunk: Chunk) -> Prepared:
        nonlocal empty
        empty = False
        return prepared(preprocessor, chunk, "raise")

    # By map, which lets go of a chunk before it asks for the next: two would take twice the memory.
    yield from map(read, open_stream(X, preprocessor).chunks(chunk_rows(preprocessor.shape)))
    if empty:
        name = X if isinstance(X, str | Path) else "X"
        raise DataError(f"{name} holds no rows: at least one is needed to score")


def _despite(preprocessor: Preprocessor, chunk: Chunk) -> Prepared:
    """An array's inputs of which some cannot be used; blank ones stand in for these."""
    count = len(chunk.names)
    problems = {position: {"": reason} for position, reason in chunk.problems.items()}
    usable = np.array([position not in problems for position in range(count)])
    if not usable.any():
        return Prepared(preprocessor.blank(count), problems)
    read = preprocessor.read(chunk.inputs[usable]).array
    array = np.zeros((count, *read.shape[1:]), read.dtype)
    array[usable] = read
    return Prepared(array, problems)
