"""Whole sets of inputs through an embedder, each input with the same bits alone and among any others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError, DissensusError, brief
from dissensus.inputs.embedders.contract import Embedder

__all__ = ["embed_all", "settled_batch"]

TRIED = 64  # made-up inputs that show whether an input's bits depend on its place
SHIFTS = (1, 2, 3, 7)  # as in dissensus.likelihood.own_bits


def embed_all(own: Embedder, inputs: NDArray[Any], batch: int) -> NDArray[np.float32]:
    """Return the vectors (N, D) of N inputs, of which each call is given ``batch``.

    ``inputs`` are pictures (N, H, W, C), rows (N, D) or an array (N,) of any objects.
    """
    from dissensus.side_by_side import side_by_side
    from dissensus.torch_threads import usable_threads

    starts = range(0, len(inputs), batch)
    # One of torch's threads for each call: how an operation is divided between more can change its last bits.
    count = min(usable_threads(), len(starts)) if own.parallel else 1
    found: dict[int, NDArray[np.float32]] = {}

    def calls(some: Sequence[int]) -> Iterator[tuple[int, NDArray[np.float32]]]:
        for start in some:
            yield start, _call(own, inputs[start : start + batch], batch)

    for start, vectors in side_by_side([calls(starts[worker::count]) for worker in range(count)], threads=1):
        found[start] = vectors
    widths = {vectors.shape[1] for vectors in found.values()}
    if len(widths) != 1:
        raise DataError(f"the embedder {_called(own)} gives vectors of different lengths: {sorted(widths)}")
    return np.concatenate([found[start] for start in starts])


def settled_batch(own: Embedder, made_up: NDArray[Any] | None) -> int:
    """Return how many inputs each call is given: the embedder's own number, or 1 where a place changes bits.

    ``made_up`` are inputs to try it out on; None where nobody can make any up, and it is believed.
    """
    batch = int(own.batch)
    if batch < 2 or made_up is None:
        return max(1, batch)
    expected = embed_all(own, made_up, batch)
    if not np.array_equal(embed_all(own, made_up[:1], batch), expected[:1], equal_nan=True):
        return 1
    same = all(
        np.array_equal(
            embed_all(own, np.roll(made_up, shift, 0), batch), np.roll(expected, shift, 0), equal_nan=True
        )
        for shift in SHIFTS
        if shift < batch
    )
    return batch if same else 1


def _call(own: Embedder, inputs: NDArray[Any], batch: int) -> NDArray[np.float32]:
    """The vectors of at most ``batch`` inputs; where there are fewer, the last one is repeated."""
    count = len(inputs)
    filled = inputs if count == batch else inputs[np.minimum(np.arange(batch), count - 1)]
    try:
        given = own(_as_given(filled))
        if hasattr(given, "detach"):  # a torch tensor, told without importing torch
            given = given.detach().cpu().numpy()
        vectors = np.asarray(given)
    except DissensusError:
        raise
    except Exception as error:  # whatever a person's own code raises
        raise DataError(
            f"the embedder {_called(own)} failed ({type(error).__name__}: {brief(error)})"
        ) from error
    if vectors.ndim != 2 or len(vectors) != batch or vectors.dtype.kind not in "fiu":
        raise DataError(
            f"the embedder {_called(own)} must give numbers of shape ({batch}, D) for {batch} inputs, and "
            f"gave {vectors.dtype} of shape {vectors.shape}"
        )
    with np.errstate(over="ignore"):
        return vectors[:count].astype(np.float32)


def _as_given(inputs: NDArray[Any]) -> Any:
    """A batch as embedders are promised it: uint8 (n, C, H, W), float64 (n, D), or a list."""
    if inputs.dtype == object:
        return inputs.tolist()
    if inputs.ndim != 4:
        return np.ascontiguousarray(inputs, np.float64)
    # Of one type whichever way they came: JSON lines have fractions where files have bytes.
    pixels = inputs if inputs.dtype == np.uint8 else np.rint(255 * inputs.astype(np.float64)).astype(np.uint8)
    first = np.ascontiguousarray(pixels.transpose(0, 3, 1, 2))
    return first.reshape(-1).reshape(first.shape)  # strides of axes of length 1 would choose other kernels


def _called(own: Embedder) -> str:
    return str(getattr(own.code, "__name__", own.code))
