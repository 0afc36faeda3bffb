"""Messages between a process that needs pictures decoded and the one that decodes them.

A message is two lengths, a JSON object and bytes: whatever a damaged picture may do to the process that
decodes it, the other one never executes what comes out of it.
"""

from __future__ import annotations

import json
import struct
from typing import IO, Any

__all__ = ["receive", "send"]

_LENGTHS = struct.Struct("<IQ")
LONGEST_NOTE = 1 << 20


def send(stream: IO[bytes], note: dict[str, Any], content: bytes | memoryview = b"") -> None:
    """Write one message."""
    text = json.dumps(note).encode()
    stream.write(_LENGTHS.pack(len(text), len(content)) + text)
    stream.write(content)
    stream.flush()


def receive(stream: IO[bytes], *, most: int | None = None) -> tuple[dict[str, Any], bytes]:
    """Read one message: EOFError at the end, ValueError for nonsense or more than ``most`` bytes."""
    note_length, length = _LENGTHS.unpack(_exactly(stream, _LENGTHS.size))
    if note_length > LONGEST_NOTE or (most is not None and length > most):
        raise ValueError("the message is too long")
    note = json.loads(_exactly(stream, note_length))
    if not isinstance(note, dict):
        raise ValueError("the message is no object")
    return note, _exactly(stream, length)


def _exactly(stream: IO[bytes], length: int) -> bytes:
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return content
