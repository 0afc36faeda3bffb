"""Rows of numbers, as modules of which ONNX can be made: their scale, and what training rows tell of them."""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor, nn

from dissensus.inputs.in_torch.surrounding import Surrounding
from dissensus.inputs.rows import RowPreprocessor
from dissensus.inputs.standardiser import FARTHEST

__all__ = ["Rowing", "Standardising"]


class Standardising(nn.Module):
    """Rows (N, D) of float64 in deviations from the mean, float32."""

    def __init__(self, preprocessor: RowPreprocessor) -> None:
        super().__init__()
        own = preprocessor.standardiser
        self.register_buffer("mean", torch.from_numpy(own.mean))
        self.register_buffer("scale", torch.from_numpy(own.scale))

    def forward(self, rows: Tensor) -> Tensor:
        """Cut off where no network could tell any more."""
        deviations = (rows - self.get_buffer("mean")) / self.get_buffer("scale")
        return torch.clamp(deviations, -FARTHEST, FARTHEST).float()


class Rowing(nn.Module):
    """The wanted statistics (N,), by name, of rows as given (N, D) and as a model reads them."""

    def __init__(self, preprocessor: RowPreprocessor, wanted: Collection[str]) -> None:
        super().__init__()
        near = preprocessor.surroundings
        self.surrounding = None
        if near is not None and set(wanted) & set(near.NAMES):
            self.surrounding = Surrounding(near)

    def forward(self, rows: Tensor, seen: Tensor) -> dict[str, Tensor]:
        """By name; more may be there than are wanted."""
        if self.surrounding is None:
            return {}
        found: dict[str, Tensor] = self.surrounding(rows if self.surrounding.projecting is not None else seen)
        return found
