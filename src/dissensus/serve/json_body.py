"""JSON as the standard has it: no NaN, no endless nesting, an object at the top."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from dissensus.errors import brief
from dissensus.serve.refusals import Refusal

__all__ = ["parse_object"]

LARGEST = 1 << 23  # bytes: the parser lets nothing else run, and 8 MiB take it a tenth of a second


def parse_object(body: bytes) -> dict[str, Any]:
    """The JSON object that the bytes are; anything else is a refusal.

    >>> parse_object(b'{"rows": [[1, 2.5]]}')
    {'rows': [[1, 2.5]]}
    """
    if len(body) > LARGEST:
        raise Refusal(
            413, f"at most {LARGEST >> 20} MiB of JSON are taken: send less at once, or raw tensors"
        )
    try:
        parsed = json.loads(body.decode("utf-8"), parse_constant=_refuse)
    except RecursionError:
        raise Refusal(400, "the body is nested too deeply") from None
    except ValueError as error:
        raise Refusal(400, f"the body is no JSON ({brief(error)})") from error
    if not isinstance(parsed, dict):
        raise Refusal(400, f"the body must be a JSON object, not {_kind(parsed)}")
    return parsed


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number in JSON")


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a text", bool: "a truth value", int: "a number", float: "a number"}
    return names.get(type(value), "null")
