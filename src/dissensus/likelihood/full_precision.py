"""Convolutions without TF32, for as long as anybody is scoring: the switch is the whole process's."""

from __future__ import annotations

import torch

from dissensus.process_wide import ProcessWide

__all__ = ["full_precision"]

full_precision = ProcessWide(
    lambda: torch.backends.cudnn.flags(enabled=True, benchmark=True, allow_tf32=False)
)
"""A block with cuDNN in full float32, and with the kernels that prove to be fastest for one shape."""
