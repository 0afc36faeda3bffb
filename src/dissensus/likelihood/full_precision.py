"""Convolutions without TF32, for as long as anybody is scoring: the switch is the whole process's."""

from __future__ import annotations

import torch

from dissensus.process_wide import ProcessWide

__all__ = ["full_precision"]

full_precision = ProcessWide(
    lambda: torch.backends.cudnn.flags(enabled=True, benchmark=True, deterministic=True, allow_tf32=False)
)
"""A block with cuDNN in full float32, and with the fastest of those kernels for a shape that always add up in
one order: the others give an input other bits at every call."""
