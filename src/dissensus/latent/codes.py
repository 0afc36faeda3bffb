"""Where inputs lie in the latent space: codes of training inputs, and of inputs that the fit did not see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.errors import ArtifactError
from dissensus.likelihood.workspace import workspace
from dissensus.models import LatentModel
from dissensus.posterior import WeightDraws, load_draw
from dissensus.seeding import torch_stream
from dissensus.tiles import filled, slices
from dissensus.torch_threads import torch_threads

__all__ = ["LATENT_CODES", "MOST_HELD_OUT", "MOST_TRAINING", "LatentCodes", "encodings"]

MOST_TRAINING, MOST_HELD_OUT = 5000, 1000
TILE = 64
LATENT_CODES = ("latent/means", "latent/log-stds", "latent/held-out")
"""The names of their arrays in a saved gate."""


@dataclass(frozen=True)
class LatentCodes:
    """Encodings by the encoder of the draws that share the space."""

    means: NDArray[np.float32]
    """(N, Z), of at most 5,000 training inputs; none where no training inputs are to be kept."""
    log_stds: NDArray[np.float32]
    """(N, Z)"""
    held_out: NDArray[np.float32]
    """(n, Z), one drawn from q(z|x) for each of at most 1,000 calibration inputs."""

    @classmethod
    def measure(
        cls,
        model: LatentModel,
        draws: WeightDraws,
        training: Iterable[Tensor],
        held_out: Tensor,
        *,
        seed: int,
        device: torch.device,
    ) -> LatentCodes:
        """Of batches of training inputs (N, *S) and of inputs (n, *S) as the model reads them."""
        means, log_stds = encodings(model, draws, training, device)
        centres, spreads = encodings(model, draws, [held_out], device)
        noise = torch.randn(centres.shape, generator=torch_stream(seed, "latent codes"))
        # Drawn, as decoders were trained on: about the means, which they never saw, draws agree far more than
        # about any other point, and nothing but a mean would ever pass for a code.
        return cls(means.numpy(), log_stds.numpy(), (centres + spreads.exp() * noise).numpy())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """As they are saved."""
        return dict(zip(LATENT_CODES, (self.means, self.log_stds, self.held_out), strict=True))

    @classmethod
    def restore(cls, arrays: Mapping[str, NDArray[Any]], size: int) -> LatentCodes | None:
        """The inverse of :meth:`arrays`, for Z = ``size``; None where there are none."""
        if not any(name in arrays for name in LATENT_CODES):
            return None
        found = [arrays.get(name, np.empty(0)) for name in LATENT_CODES]
        means, log_stds, held_out = found
        sound = all(a.ndim == 2 and a.shape[1] == size and a.dtype == np.float32 for a in found)
        if not (sound and len(means) == len(log_stds) and len(held_out)):
            raise ArtifactError("its codes are not those of its latent space: save the gate again")
        if not all(np.isfinite(a).all() for a in found):
            raise ArtifactError("its codes are not all numbers: save the gate again")
        return cls(means, log_stds, held_out)


def encodings(
    model: LatentModel, draws: WeightDraws, batches: Iterable[Tensor], device: torch.device
) -> tuple[Tensor, Tensor]:
    """Means and log σ, two of (N, Z), by the last of the draws, whose encoder has seen the most."""
    means, log_stds = ([torch.empty(0, model.latent_size)] for _ in range(2))
    with workspace(model, device) as own, torch.inference_mode(), torch_threads(1):
        load_draw(own, draws, len(draws) - 1)
        for data in batches:
            for rows in slices(slice(0, len(data)), TILE):
                found = own.encode(own.read(filled(data[rows], TILE).to(device)))
                for kept, part in zip((means, log_stds), found, strict=True):
                    kept.append(part[: rows.stop - rows.start].cpu().float())
    return torch.cat(means), torch.cat(log_stds)
