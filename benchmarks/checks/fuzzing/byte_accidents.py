"""Bytes as accidents change them: cut, flipped, inserted, lost, blanked, repeated."""

from __future__ import annotations

import numpy as np

__all__ = ["mutated"]


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """One to four of the things that happen to bytes."""
    for _ in range(int(rng.integers(1, 5))):
        if not content:
            break
        kind, place = rng.integers(7), int(rng.integers(len(content)))
        if kind == 0:
            content = content[:place]
        elif kind == 1:
            flipped = content[place] ^ (1 << int(rng.integers(8)))
            content = content[:place] + bytes([flipped]) + content[place + 1 :]
        elif kind == 2:
            content = content[:place] + rng.bytes(int(rng.integers(1, 9))) + content[place:]
        elif kind == 3:
            content = content[:place] + content[place + int(rng.integers(1, 9)) :]
        elif kind == 4:
            content = content[:place] + bytes(len(content) - place)
        elif kind == 5:  # sizes in headers: all ones, or the sign bit
            size = int(rng.choice([2, 4, 8]))
            wild = [b"\xff" * size, b"\x7f" + b"\xff" * (size - 1), bytes(size)][int(rng.integers(3))]
            content = content[:place] + wild + content[place + size :]
        else:
            content = (
                content[:place] + content[place : place + 64] * int(rng.integers(2, 5)) + content[place:]
            )
    return content
