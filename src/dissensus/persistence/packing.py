"""Weight draws as named tensors, and back."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from dissensus.posterior import Diagnostics, PartDraws, WeightDraws

__all__ = ["pack_draws", "unpack_draws"]

CHAIN, EPOCH, OF = "chain", "epoch", "_of"


def pack_draws(draws: WeightDraws) -> dict[str, Tensor]:
    """Name weights ``part/name``, and say by ``part_of`` which a draw has where draws share them."""
    packed = {CHAIN: torch.from_numpy(draws.chain), EPOCH: torch.from_numpy(draws.epoch)}
    for part, own in draws.parts.items():
        packed |= {f"{part}/{name}": stack.contiguous() for name, stack in own.stacks.items()}
        if not own.stacks or not np.array_equal(own.of, np.arange(len(draws))):
            packed[f"{part}{OF}"] = torch.from_numpy(own.of)
    return packed


def unpack_draws(tensors: Mapping[str, Tensor], diagnostics: Diagnostics) -> WeightDraws:
    """Make draws of what :func:`pack_draws` gave; a tensor of another name is a ValueError."""
    chain, epoch = (tensors[name].numpy() for name in (CHAIN, EPOCH))
    stacks: dict[str, dict[str, Tensor]] = {}
    of: dict[str, Tensor] = {}
    for key, tensor in tensors.items():
        part, slash, name = key.partition("/")
        if slash:
            stacks.setdefault(part, {})[name] = tensor
        elif key.endswith(OF):
            of[key.removesuffix(OF)] = tensor
        elif key not in (CHAIN, EPOCH):
            raise ValueError(f"its draws hold a tensor {key[:99]!r} that no model has")
    each_its_own = torch.arange(len(chain))
    parts = {
        part: PartDraws(stacks.get(part, {}), of.get(part, each_its_own).numpy())
        for part in dict.fromkeys((*stacks, *of))
    }
    return WeightDraws(parts, chain, epoch, diagnostics)
