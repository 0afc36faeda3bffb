"""Tensors of the Open Inference Protocol: as JSON, or as raw bytes behind the JSON."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dissensus.serve.json_body import parse_object
from dissensus.serve.refusals import Refusal
from dissensus.serve.requests import MOST_VALUES, InferRequest, Tensor

__all__ = ["Asked", "encode_response", "parse_infer"]

LENGTH = "Inference-Header-Content-Length"
TYPES: Mapping[str, np.dtype[Any]] = {
    "BOOL": np.dtype("?"),
    **{f"UINT{8 * size}": np.dtype(f"<u{size}") for size in (1, 2, 4, 8)},
    **{f"INT{8 * size}": np.dtype(f"<i{size}") for size in (1, 2, 4, 8)},
    **{f"FP{8 * size}": np.dtype(f"<f{size}") for size in (2, 4, 8)},
}
MOST_TEXTS = 1 << 20  # in one request: each takes as much time as a thousand bytes of numbers
NAMES = {kind.kind + str(kind.itemsize): name for name, kind in TYPES.items()}


class Asked(NamedTuple):
    """What a client asked for."""

    id: str | None
    inputs: dict[str, NDArray[Any]]
    outputs: dict[str, bool] | None
    """Wanted outputs, and whether each comes as bytes; None for all."""
    binary: bool
    """Whether outputs come as bytes where nothing else was said."""


def parse_infer(body: bytes | memoryview, header_length: str | None) -> Asked:
    """The request in JSON, or in JSON of ``header_length`` bytes with raw tensors behind it."""
    length = len(body)
    if header_length is not None:
        if not header_length.isdecimal() or len(header_length) > 20 or int(header_length) > len(body):
            raise Refusal(400, f"{LENGTH} must be a whole number that is no larger than the body")
        length = int(header_length)
    message, raw = parse_object(body[:length]), memoryview(body)[length:]
    asked = InferRequest.read(message, status=400)
    inputs: dict[str, NDArray[Any]] = {}
    texts = (math.prod(tensor.shape) for tensor in asked.inputs if tensor.datatype == "BYTES")
    if sum(texts) > MOST_TEXTS:
        raise Refusal(400, f"at most {MOST_TEXTS} values of the datatype BYTES are taken at once: send fewer")
    for tensor in asked.inputs:
        if tensor.name in inputs:
            raise Refusal(400, "every input needs a 'name' of its own")
        inputs[tensor.name], raw = _tensor(tensor, raw)
    if len(raw):
        raise Refusal(400, f"{len(raw)} bytes are left behind the last tensor")
    binary = asked.parameters.binary_data_output
    wanted: dict[str, bool] = {}
    for output in asked.outputs:
        if output.name in wanted:
            raise Refusal(400, "every output needs a 'name' of its own")
        own = output.parameters.binary_data
        wanted[output.name] = binary if own is None else own
    return Asked(asked.id, inputs, wanted or None, binary)


def encode_response(
    head: dict[str, Any], outputs: Sequence[tuple[str, NDArray[Any], bool]]
) -> tuple[bytes, dict[str, str]]:
    """The body, and its headers: JSON, or JSON with raw tensors behind it."""
    described, raw = [], []
    for name, array, binary in outputs:
        kind = array.dtype.kind + str(array.dtype.itemsize)
        tensor: dict[str, Any] = {"name": name, "datatype": NAMES[kind], "shape": list(array.shape)}
        if binary:
            raw.append(array.astype(TYPES[NAMES[kind]], copy=False).tobytes())
            tensor["parameters"] = {"binary_data_size": len(raw[-1])}
        else:
            tensor["data"] = [_json(value) for value in array.ravel().tolist()]
        described.append(tensor)
    text = json.dumps(head | {"outputs": described}, allow_nan=False, separators=(",", ":")).encode()
    if not raw:
        return text, {"Content-Type": "application/json"}
    return text + b"".join(raw), {"Content-Type": "application/octet-stream", LENGTH: str(len(text))}


def _tensor(tensor: Tensor, raw: memoryview) -> tuple[NDArray[Any], memoryview]:
    """The tensor, and the bytes that are left for those behind it."""
    name, kind, size = tensor.name[:40], tensor.datatype, tensor.parameters.binary_data_size
    count = math.prod(tensor.shape)
    most = MOST_TEXTS if kind == "BYTES" else MOST_VALUES // TYPES[kind].itemsize
    if math.prod(max(1, side) for side in tensor.shape) > most:  # a side of 0 must not hide the others
        raise Refusal(400, f"the shape of {name!r} takes more values than a request can hold")
    if kind == "BYTES":
        return _texts(tensor, raw)
    if size is not None:
        if size != count * TYPES[kind].itemsize or size > len(raw):
            raise Refusal(400, f"the bytes of {name!r} are not as many as its shape and datatype take")
        return np.frombuffer(raw[:size], TYPES[kind]).reshape(tensor.shape), raw[size:]
    return _from_json(tensor.data, name, kind, tensor.shape, count), raw


def _texts(tensor: Tensor, raw: memoryview) -> tuple[NDArray[Any], memoryview]:
    """An array of texts, and the bytes that are left; each has four bytes in front that tell its length."""
    name, count, size = tensor.name[:40], math.prod(tensor.shape), tensor.parameters.binary_data_size
    if size is None:
        found = _flat(tensor.data, name, count)
        if not set(map(type, found)) <= {str}:
            raise Refusal(400, f"the data of {name!r} are not all of the type BYTES")
        return _objects(found, tensor.shape), raw
    wrong = Refusal(400, f"the bytes of {name!r} are not as many texts in UTF-8 as its shape takes")
    if not 4 * count <= size <= len(raw):
        raise wrong
    content, found, place = bytes(raw[:size]), [], 0
    try:
        for _ in range(count):
            (length,) = struct.unpack_from("<I", content, place)
            place += 4 + length
            if place > size:
                raise wrong
            found.append(content[place - length : place].decode())
    except (struct.error, UnicodeDecodeError):
        raise wrong from None
    if place != size:
        raise wrong
    return _objects(found, tensor.shape), raw[size:]


def _objects(values: list[str], shape: list[int]) -> NDArray[Any]:
    return np.array(values, dtype=object).reshape(shape)


def _from_json(data: Any, name: str, kind: str, shape: list[int], count: int) -> NDArray[Any]:
    data = _flat(data, name, count)
    wanted = TYPES[kind]
    # Before an array is made: of texts it would have as much room for each as the longest takes.
    taken: dict[str, set[type]] = {"b": {bool}, "u": {int}, "i": {int}, "f": {int, float}}
    if not set(map(type, data)) <= taken[wanted.kind]:
        raise Refusal(400, f"the data of {name!r} are not all of the type {kind}")
    if wanted.kind in "ui" and data:
        least, most = (int(getattr(np.iinfo(wanted), end)) for end in ("min", "max"))
        if not least <= min(data) <= max(data) <= most:
            raise Refusal(400, f"the data of {name!r} must lie in {least}..{most}")
    try:
        values = np.asarray(data, np.float64 if wanted.kind == "f" else wanted)
    except OverflowError:  # a whole number that no float comes near
        raise Refusal(400, f"the data of {name!r} hold a number that is too large") from None
    with np.errstate(over="ignore"):  # infinite then, and refused as such
        return values.astype(wanted, copy=False).reshape(shape)


def _flat(data: Any, name: str, count: int) -> list[Any]:
    """As many values, from a flat list or from lists of lists."""
    if not isinstance(data, list):
        raise Refusal(400, f"{name!r} has neither 'data' nor bytes behind the JSON")
    values: list[Any] = data
    while values and isinstance(values[0], list):
        if not all(isinstance(one, list) and len(one) == len(values[0]) for one in values):
            raise Refusal(400, f"the data of {name!r} are lists of different lengths")
        values = list(chain.from_iterable(values))
    if len(values) != count:
        raise Refusal(400, f"the data of {name!r} hold {len(values)} values, and its shape takes {count}")
    return values


def _json(value: Any) -> Any:
    """JSON has no infinity; the largest number comes as near as it can."""
    if isinstance(value, float) and not math.isfinite(value):
        return math.copysign(1.7976931348623157e308, value)
    return value
