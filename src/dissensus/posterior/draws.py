"""The draws: what a run of the sampler leaves behind and every later stage reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dissensus.posterior.diagnostics import Diagnostics

__all__ = ["Stack", "WeightDraws", "load_weights"]


class Stack(Protocol):
    """Tensors of one shape along a leading axis, in memory or in a file that is read as it is sliced."""

    def __getitem__(self, rows: slice, /) -> Tensor: ...


@dataclass(frozen=True)
class WeightDraws:
    """M draws of decoder weights with their encoders.

    ``decoder`` maps each parameter's name to a stack (M, ...); ``encoder`` to a stack (E, ...), where draw m
    belongs to encoder ``encoder_of[m]``: E = M for sampled encoders, one a chain for optimised ones.
    """

    decoder: Mapping[str, Stack]
    encoder: Mapping[str, Stack]
    encoder_of: NDArray[np.int64]
    chain: NDArray[np.int64]
    epoch: NDArray[np.int64]
    diagnostics: Diagnostics = field(default_factory=Diagnostics)

    def __len__(self) -> int:
        return len(self.chain)

    def decoder_weights(self, draw: int) -> dict[str, Tensor]:
        """The decoder of one draw, by parameter name."""
        return {name: stack[draw : draw + 1][0] for name, stack in self.decoder.items()}

    def encoder_weights(self, encoder: int) -> dict[str, Tensor]:
        """One encoder, by parameter name."""
        return {name: stack[encoder : encoder + 1][0] for name, stack in self.encoder.items()}

    def by_encoder(self) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Each encoder with the draws that use it, so that it encodes once for all of them."""
        for encoder in np.unique(self.encoder_of):
            yield int(encoder), np.flatnonzero(self.encoder_of == encoder)

    def select(self, draws: NDArray[np.int64]) -> WeightDraws:
        """Some of the draws, in the given order, in memory."""
        draws = np.asarray(draws, dtype=np.int64)
        encoders, encoder_of = np.unique(self.encoder_of[draws], return_inverse=True)
        return WeightDraws(
            {
                name: torch.cat([stack[m : m + 1] for m in draws.tolist()])
                for name, stack in self.decoder.items()
            },
            {
                name: torch.cat([stack[e : e + 1] for e in encoders.tolist()])
                for name, stack in self.encoder.items()
            },
            encoder_of.astype(np.int64),
            self.chain[draws],
            self.epoch[draws],
            self.diagnostics,
        )


def load_weights(module: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copies named weights into a module's own memory."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name in weights:
                parameter.copy_(weights[name])
