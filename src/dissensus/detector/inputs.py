"""What a detector takes in: whatever stands for inputs, opened, and checked to have the shape it knows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data
from torch import Tensor

from dissensus.errors import DataError
from dissensus.inputs import (
    ArrayStream,
    Chunk,
    Dataset,
    ImageFolder,
    Table,
    TableEncoder,
    TableFile,
    check_images,
    image_suffixes,
    is_pattern,
    is_table,
    open_inputs,
)

__all__ = ["chunk_rows", "encoded", "scoring_batches", "training_array"]

LEAST_ROWS = 5
CHUNK_NUMBERS, CHUNK_ROWS = 1 << 22, 8192  # worked on at once: at most so many numbers, and so many inputs


def training_array(detector: BaseEstimator, X: Any, *, resize: tuple[int, int] | None) -> NDArray[Any]:
    """Rows (N, D) or images (N, H, W, C) to fit on; ``n_features_in_`` and ``table_`` are set by the way."""
    inputs = _opened(X, resize)
    array = inputs.load() if isinstance(inputs, ImageFolder | TableFile) else inputs
    detector.table_ = None
    if isinstance(array, Table):
        detector.table_ = TableEncoder.fit(array, id_column=inputs.id_column)
        array, _ = detector.table_.transform(array)
    array = _checked(detector, array, shape=None)
    if len(array) < LEAST_ROWS:
        raise DataError(
            f"X holds too few rows (n_samples={len(array)}): give at least {LEAST_ROWS}, and better hundreds"
        )
    return array


def scoring_batches(
    detector: BaseEstimator, X: Any, *, shape: tuple[int, ...], resize: tuple[int, int] | None
) -> Iterator[NDArray[Any]]:
    """Arrays of inputs of ``shape``, (D,) or (H, W, C); folders, tables and ``.npy`` files in parts."""
    inputs = ArrayStream(Path(X)) if _is_numpy_file(X) else _opened(X, resize)
    if isinstance(inputs, ImageFolder):
        for _, pictures in inputs.batches(chunk_rows(inputs.shape)):
            yield _checked(detector, pictures, shape=shape)
    elif isinstance(inputs, TableFile) or (isinstance(inputs, ArrayStream) and len(inputs)):
        empty = True

        def checked(chunk: Chunk) -> NDArray[Any]:
            nonlocal empty
            empty = False
            return _checked(detector, _all_usable(detector, chunk), shape=shape)

        # By map, which lets go of a chunk before it asks for the next: two would take twice the memory.
        yield from map(checked, inputs.chunks(chunk_rows(shape)))
        if empty:
            raise DataError(f"{X} holds no rows: at least one is needed to score")
    else:
        yield _checked(detector, inputs, shape=shape)


def _all_usable(detector: BaseEstimator, chunk: Chunk) -> Any:
    """A chunk's rows; refused if one of them cannot be scored."""
    array, problems = chunk.inputs, chunk.problems
    if isinstance(array, Table):
        array, problems = encoded(detector, array)
    for position, reason in sorted(problems.items()):
        raise DataError(f"X cannot be scored at row {chunk.names[position]}: {reason}")
    return array


def chunk_rows(shape: tuple[int, ...]) -> int:
    """How many inputs of a shape are worked on at once.

    >>> chunk_rows((10,)), chunk_rows((28, 28, 1)), chunk_rows((512, 512, 3))
    (8192, 5349, 16)
    """
    return min(CHUNK_ROWS, max(16, CHUNK_NUMBERS // int(np.prod(shape))))


def encoded(detector: BaseEstimator, table: Table) -> tuple[NDArray[np.float64], dict[int, str]]:
    """A table's rows as numbers (n, D), and why some of them cannot be used."""
    if getattr(detector, "table_", None) is None:
        raise DataError("X is a table of named columns, and this detector was fitted on none: give it arrays")
    rows, problems = detector.table_.transform(table)
    return rows, problems


def _is_numpy_file(X: Any) -> bool:
    is_one = isinstance(X, str | Path) and Path(X).suffix.lower() == ".npy"
    return is_one and os.path.isfile(X)  # noqa: PTH113


def _opened(X: Any, resize: tuple[int, int] | None) -> Any:
    """Paths, names, datasets and tensors opened; frames and arrays are left to scikit-learn's own check."""
    if is_table(X):
        return TableFile(X)
    if isinstance(X, str | Path):
        return open_inputs(X, size=resize if _is_pictures(X) else None)
    if isinstance(X, ImageFolder | Dataset | Tensor):
        return open_inputs(X)
    return X


def _is_pictures(path: str | Path) -> bool:
    # Unlike Path's own, these are False for names that no file could have.
    image = os.path.isfile(path) and Path(path).suffix.lower() in image_suffixes()  # noqa: PTH113
    return image or os.path.isdir(path) or is_pattern(path)  # noqa: PTH112


def _checked(detector: BaseEstimator, X: Any, *, shape: tuple[int, ...] | None) -> NDArray[Any]:
    """Rows (N, D) of finite float64 or images (N, H, W, C), of ``shape`` unless it is still to be learnt."""
    if _axes(X) > 2:
        if shape is not None and len(shape) == 1:
            raise DataError(
                f"X has shape {np.shape(X)}, and this detector takes rows: give it (N, {shape[0]})"
            )
        images = check_images(X, expected=None if shape is None else (shape[0], shape[1], shape[2]))
        detector.n_features_in_ = int(np.prod(images.shape[1:]))
        return images
    if shape is not None and len(shape) == 3:
        height, width, channels = shape
        raise DataError(
            f"X has shape {np.shape(X)}, and this detector takes images: "
            f"give it (N, {height}, {width}, {channels})"
        )
    try:
        rows: NDArray[np.float64] = validate_data(
            detector, X, reset=shape is None, dtype=np.float64, ensure_all_finite=False
        )
    except ValueError as error:
        raise DataError(" ".join(str(error).split())) from error
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise DataError(
            f"X holds NaN or infinite values in {(~finite).sum()} of {len(rows)} rows, first in row "
            f"{finite.argmin()}; remove or repair them"
        )
    return rows


def _axes(X: Any) -> int:
    """Of an array or of nested lists; whatever else there is, scikit-learn's check takes as a table."""
    if not isinstance(X, list | tuple):
        return getattr(X, "ndim", 2)
    try:
        return np.ndim(X)
    except ValueError as error:
        raise DataError(
            "X is made of lists of different lengths; give all rows or images one shape"
        ) from error
