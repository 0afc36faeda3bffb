"""One root seed, many independent named streams.

No code below the command line touches a global random state: whoever needs randomness asks for a stream by
name, and the same root seed and name give the same numbers whatever else ran before.

>>> stream_seed(0, "chain", 1) == stream_seed(0, "chain", 1)
True
>>> stream_seed(0, "chain", 1) == stream_seed(0, "chain", 2)
False
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

__all__ = ["numpy_stream", "stream_seed", "torch_stream"]


def stream_seed(root: int, *name: str | int) -> int:
    """A 63-bit seed that is a fixed function of the root seed and the stream's name."""
    text = "/".join(str(part) for part in (root, *name))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def numpy_stream(root: int, *name: str | int) -> np.random.Generator:
    """NumPy's generator for the named stream."""
    return np.random.default_rng(stream_seed(root, *name))


def torch_stream(root: int, *name: str | int, device: torch.device | str = "cpu") -> torch.Generator:
    """Torch's generator for the named stream, on ``device``."""
    import torch

    return torch.Generator(device=device).manual_seed(stream_seed(root, *name))
