"""JSON as the standard has it: no NaN, no endless nesting, an object at the top."""

from __future__ import annotations

from typing import Any

from pydantic_core import from_json

from dissensus.errors import brief
from dissensus.serve.refusals import Refusal

__all__ = ["parse_object"]

LARGEST = 1 << 22  # bytes: while the parser works, nothing else runs, a tenth of a second for so many
# Lists and objects: of millions it would take seconds, in most of which Python looks for circles of them.
MOST_LISTS = 1 << 18


def parse_object(body: bytes | memoryview) -> dict[str, Any]:
    """The JSON object that the bytes are; anything else is a refusal.

    >>> parse_object(b'{"rows": [[1, 2.5]]}')
    {'rows': [[1, 2.5]]}
    """
    if len(body) > LARGEST:
        raise Refusal(
            413, f"at most {LARGEST >> 20} MiB of JSON are taken: send less at once, or raw tensors"
        )
    content = bytes(body)
    if content.count(b"[") + content.count(b"{") > MOST_LISTS:
        raise Refusal(
            413,
            f"at most {MOST_LISTS} lists and objects are taken in JSON: send less at once, or raw tensors",
        )
    try:
        parsed = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise Refusal(400, f"the body is no JSON ({brief(error)})") from error
    if not isinstance(parsed, dict):
        raise Refusal(400, f"the body must be a JSON object, not {_kind(parsed)}")
    return parsed


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a text", bool: "a truth value", int: "a number", float: "a number"}
    return names.get(type(value), "null")
