"""Tensors as inputs of a gate: pictures, rows of numbers, or one tensor for each column of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError
from dissensus.inputs import check_images
from dissensus.serve.refusals import Refusal, clear
from dissensus.serve.rows import read_columns

if TYPE_CHECKING:
    from dissensus.serve.served import Served

__all__ = ["described_inputs", "tensor_inputs"]

LISTED = 5  # names in a message


def described_inputs(served: Served) -> list[dict[str, Any]]:
    """The input tensors of a gate, as its metadata tell them."""
    if served.columns is not None:
        learnt = {column.name: column.kind for column, _ in served.gate.preprocessor_.table_columns}
        kinds = {name: "FP64" if learnt.get(name) == "numbers" else "BYTES" for name in served.columns}
        return [{"name": name, "datatype": kind, "shape": [-1]} for name, kind in kinds.items()]
    name, kind = ("images", "UINT8") if served.kind == "images" else ("rows", "FP64")
    return [{"name": name, "datatype": kind, "shape": [-1, *served.shape]}]


def tensor_inputs(served: Served, tensors: Mapping[str, NDArray[Any]], *, most: int) -> NDArray[Any]:
    """What the gate scores, (n, H, W, C) or (n, D); tensors that it does not take are a refusal."""
    if served.columns is not None:
        return _columns(served, tensors, served.columns, most)
    expected = "images" if served.kind == "images" else "rows"
    if list(tensors) != [expected]:
        raise Refusal(422, f"gate {served.name} takes one input tensor named {expected!r}")
    array = tensors[expected]
    if expected == "rows" and array.dtype.kind not in "fiu":
        raise Refusal(422, "'rows' must be of a datatype of numbers, as FP64")
    if expected == "images" and array.dtype not in (np.uint8, np.float16, np.float32, np.float64):
        raise Refusal(422, "'images' must be of the datatype UINT8, FP16, FP32 or FP64")
    if array.shape[1:] != served.shape:
        sides = ", ".join(map(str, served.shape))
        raise Refusal(422, f"{expected!r} has shape {list(array.shape)} and [n, {sides}] was expected")
    _check_count(len(array), most)
    if not np.isfinite(array).all():
        raise Refusal(422, f"{expected!r} holds NaN or infinite values")
    return array.astype(np.float64) if expected == "rows" else _pictures(served, array)


def _pictures(served: Served, array: NDArray[Any]) -> NDArray[Any]:
    height, width, channels = served.shape
    try:
        return check_images(
            array.astype(np.float32) if array.dtype == np.float16 else array,
            name="images",
            expected=(height, width, channels),
        )
    except DataError as error:
        raise Refusal(422, str(error)) from error


def _columns(
    served: Served, tensors: Mapping[str, NDArray[Any]], names: tuple[str, ...], most: int
) -> NDArray[Any]:
    """By name, as in a file: tensors of unknown columns are ignored. All rows can be scored, or none is."""
    absent = [name for name in names if name not in tensors]
    if absent:
        listed = ", ".join(repr(clear(name[:40])) for name in absent[:LISTED])
        more = f" and {len(absent) - LISTED} more" if len(absent) > LISTED else ""
        lacking = f"{listed}{more} {'is' if len(absent) == 1 else 'are'} missing"
        raise Refusal(422, f"gate {served.name} takes a tensor for each column: {lacking}")
    count = len(tensors[names[0]])
    for name in names:
        if tensors[name].shape not in ((count,), (count, 1)):
            shape = list(tensors[name].shape)
            raise Refusal(422, f"{clear(name[:40])!r} has shape {shape} and [{count}] was expected")
    _check_count(count, most)
    rows = read_columns(served, {name: tensors[name].ravel().tolist() for name in names}, count)
    for number, problem in sorted(rows.problems.items()):
        raise Refusal(422, f"row {number} cannot be scored: {problem}")
    return rows.numbers


def _check_count(count: int, most: int) -> None:
    if not 1 <= count <= most:
        raise Refusal(413 if count else 422, f"1 to {most} inputs are taken at once, not {count}")
