"""The ways to score a tile that there are on a device, by precision."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from dissensus.likelihood.matrix import MakeScorer
from dissensus.models import Inferred
from dissensus.models.vae.scorer import ReferenceScorer, compiled_scorer, tile_scorer

__all__ = ["scoring_paths"]


def scoring_paths(device: torch.device) -> Mapping[str, MakeScorer]:
    """By name; ``default`` is what a detector uses."""
    paths: dict[str, MakeScorer] = {"default": tile_scorer, "eager float32": ReferenceScorer}
    if device.type == "cuda":
        # The default there is half precision where a draw bears it; compiled is the same for large matrices.
        paths |= {"compiled": compiled_scorer, "eager TF32": _TF32, "eager bfloat16": _BFloat16}
    return paths


class _TF32(ReferenceScorer):
    def __call__(self, x: Tensor, inferred: Inferred) -> tuple[Tensor, Tensor]:
        before = torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = True
        try:
            with torch.backends.cudnn.flags(enabled=True, allow_tf32=True):
                return super().__call__(x, inferred)
        finally:
            torch.backends.cuda.matmul.allow_tf32 = before


class _BFloat16(ReferenceScorer):
    def __call__(self, x: Tensor, inferred: Inferred) -> tuple[Tensor, Tensor]:
        with torch.autocast(x.device.type, dtype=torch.bfloat16):
            return super().__call__(x, inferred)
