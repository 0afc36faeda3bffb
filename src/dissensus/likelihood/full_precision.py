"""Convolutions without TF32, for as long as anybody is scoring.

The switch is the process's own, not a thread's: whoever comes first turns it and whoever leaves last turns it
back, or a thread that is done would lower the precision of one that is not.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch

__all__ = ["full_precision"]

_lock = threading.Lock()
_inside = 0
_way_back = ExitStack()


@contextmanager
def full_precision() -> Iterator[None]:
    """cuDNN in full float32, with the kernels that prove to be the fastest for tiles of one shape."""
    global _inside
    with _lock:
        if _inside == 0:
            flags = torch.backends.cudnn.flags(enabled=True, benchmark=True, allow_tf32=False)
            _way_back.enter_context(flags)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _way_back.close()
