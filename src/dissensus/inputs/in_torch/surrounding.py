"""What training inputs tell of an input, in float64: for a GPU, and to make ONNX of."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.inputs.components import TINY, Components
from dissensus.inputs.surroundings import NEIGHBOURS, TOUCHING, Surroundings
from dissensus.inputs.whitening import FARTHEST, Whitening

__all__ = ["Surrounding"]


class Surrounding(nn.Module):
    """The statistics (N,), by name, of :class:`~dissensus.inputs.surroundings.Surroundings`."""

    def __init__(self, near: Surroundings) -> None:
        super().__init__()
        self.count = min(NEIGHBOURS, len(near.rows))
        self.projecting = None if near.components is None else _Components(near.components)
        self.whitening = None if near.whitening is None else _Whitening(near.whitening)
        lengths = np.zeros(len(near.rows), np.float32) if near.lengths is None else near.lengths
        self.register_buffer("points", torch.from_numpy(near.rows))
        self.register_buffer("lengths", torch.from_numpy(lengths.astype(np.float64)))
        squares = np.square(near.rows.astype(np.float64)).sum(axis=1) + lengths
        self.register_buffer("squares", torch.from_numpy(squares))
        self.register_buffer("spacing", torch.from_numpy(near.spacing))
        self.mixed = near.gaussians is not None
        if near.gaussians is not None:
            for name, array in vars(near.gaussians).items():
                self.register_buffer(name, torch.from_numpy(array))

    def forward(self, values: Tensor) -> dict[str, Tensor]:
        """Of standardised columns (N, D), or of what the components are taken of."""
        if self.projecting is not None:
            values = self.projecting(values)
        if self.whitening is None:
            points, own = values.double(), torch.zeros_like(values[:, 0]).double()
        else:
            points, own = self.whitening(values)
        every, lengths, spacing = (self.get_buffer(name) for name in ("points", "lengths", "spacing"))
        squares = self.get_buffer("squares") - 2 * (points @ every.T.double())
        places = torch.topk(-squares, self.count, dim=1).indices
        # Once more by differences: those of squares say nothing of what is next to a training input.
        away = (points[:, None] - every[places].double()).square().sum(dim=2)
        distances = torch.sqrt(away + own[:, None] + lengths[places]) + TOUCHING
        theirs = spacing[places].mean(dim=1) + TOUCHING
        return {
            "nearest": torch.log(distances.min(dim=1).values),
            "isolation": torch.log(distances.mean(dim=1)) - torch.log(theirs),
            "gaussians": self._rarity(points, own),
        }

    def _rarity(self, points: Tensor, own: Tensor) -> Tensor:
        if not self.mixed:
            return 0.5 * (own + points.square().sum(dim=1))
        means, whiteners = self.get_buffer("means"), self.get_buffer("whiteners")
        away = torch.matmul(points[None] - means[:, None], whiteners.transpose(1, 2))
        logs = self.get_buffer("log_weights")[:, None] - 0.5 * away.square().sum(dim=2)
        best = logs.max(dim=0, keepdim=True).values
        return -(best[0] + torch.log(torch.exp(logs - best).sum(dim=0)))


class _Components(nn.Module):
    """Components, and the length of what they leave over: (N, K + 1), or (N, K) if that is nothing."""

    def __init__(self, own: Components) -> None:
        super().__init__()
        self.has_residual = own.has_residual
        self.register_buffer("mean", torch.from_numpy(own.mean))
        self.register_buffer("directions", torch.from_numpy(own.directions))

    def forward(self, vectors: Tensor) -> Tensor:
        """Of (N, D)."""
        centred, directions = vectors.double() - self.get_buffer("mean"), self.get_buffer("directions")
        found = centred @ directions.T
        if not self.has_residual:
            return found
        left = (centred - found @ directions).square().sum(dim=1, keepdim=True)
        return torch.cat([found, torch.sqrt(left) + TINY], dim=1)


class _Whitening(nn.Module):
    """Whitened components (N, K), and the squared length (N,) of the rest."""

    def __init__(self, own: Whitening) -> None:
        super().__init__()
        self.register_buffer("scales", torch.from_numpy(own.scales))
        self.noise = float(own.noise[0]) if len(own.noise) else None

    def forward(self, projected: Tensor) -> tuple[Tensor, Tensor]:
        """Rounded to float32 as the gate does, in float64."""
        scales = self.get_buffer("scales")
        points = torch.clamp(projected[:, : len(scales)] / scales, -FARTHEST, FARTHEST).float().double()
        if self.noise is None:
            return points, torch.zeros_like(points[:, 0])
        lengths = (projected[:, len(scales)] / self.noise).square()
        return points, torch.clamp(lengths, max=FARTHEST**2).float().double()
