"""What pictures tell without a model, as modules of which ONNX can be made: matrix products in float64."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from dissensus.inputs.components import TINY
from dissensus.inputs.pictures import PREDICTED, PicturePreprocessor
from dissensus.inputs.predicted_code import BIT
from dissensus.inputs.spectra import ROUNDING, bands, directions, spectrum_names
from dissensus.inputs.surroundings import NEIGHBOURS, TOUCHING, Surroundings
from dissensus.inputs.textures import block_borders
from dissensus.inputs.whitening import FARTHEST

__all__ = ["Picturing"]


class Picturing(nn.Module):
    """The wanted statistics (N,), by name, of uint8 pictures (N, H, W, C)."""

    def __init__(self, preprocessor: PicturePreprocessor, wanted: Collection[str]) -> None:
        super().__init__()
        shape = preprocessor.shape
        self.predicts = PREDICTED in wanted
        self.spectrum = _Spectrum(shape) if set(wanted) & set(spectrum_names(shape)) else None
        near = preprocessor.surroundings
        self.isolation = _Isolation(shape, near) if near is not None and "isolation" in wanted else None

    def forward(self, pixels: Tensor) -> dict[str, Tensor]:
        """By name; more may be there than are wanted."""
        whole = pixels.to(torch.float64).permute(0, 3, 1, 2)  # (N, C, H, W)
        found: dict[str, Tensor] = {}
        if self.predicts:
            found[PREDICTED] = _predicted_length(whole)
        if self.spectrum is not None:
            found |= self.spectrum(whole)
        if self.isolation is not None:
            found["isolation"] = self.isolation(whole)
        return found


def _predicted_length(whole: Tensor) -> Tensor:
    """As :func:`~dissensus.inputs.predicted_code.predicted_length`."""
    around = F.pad(whole, (1, 0, 1, 0))
    left, above, corner = around[:, :, 1:, :-1], around[:, :, :-1, 1:], around[:, :, :-1, :-1]
    low, high = torch.minimum(left, above), torch.maximum(left, above)
    predicted = torch.minimum(torch.maximum(left + above - corner, low), high)
    costs = torch.round(BIT / math.log(2) * torch.log(1 + (whole - predicted).abs()))
    return costs.flatten(1).sum(dim=1) / BIT


class _Spectrum(nn.Module):
    """As :func:`~dissensus.inputs.spectra.spectrum`."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        height, width, self.channels = shape
        self.register_buffer("down", _cosines(height))
        self.register_buffer("across", _cosines(width).T.contiguous())
        self.members = {f"{b}": places for b, places in bands(height, width).items()}
        sides = directions(height, width)
        self.sides = tuple(sides)
        groups = [*self.members.values(), *(side for pair in sides.values() for side in pair)]
        chosen = torch.zeros(height * width, len(groups), dtype=torch.float64)
        for column, places in enumerate(groups):
            chosen[torch.from_numpy(places), column] = 1.0
        self.register_buffer("chosen", chosen)
        self.register_buffer("floor", chosen.sum(dim=0) * ROUNDING)

    def forward(self, whole: Tensor) -> dict[str, Tensor]:
        """Of (N, C, H, W)."""
        scaled = whole / 255
        mean = scaled.mean(dim=1, keepdim=True)
        detail = self._logs(mean)
        found = {f"detail-{band}": detail[:, n] for n, band in enumerate(self.members)}
        if self.channels > 1:
            colour = self._logs(scaled - mean)
            found |= {f"colour-{band}": colour[:, n] for n, band in enumerate(self.members)}
        for n, part in enumerate(self.sides):
            first = len(self.members) + 2 * n
            found[f"direction-{part}"] = detail[:, first] - detail[:, first + 1]
        return found

    def _logs(self, planes: Tensor) -> Tensor:
        """The logarithm (N, groups) of the energies of planes (N, C, H, W)."""
        turned = torch.matmul(torch.matmul(self.get_buffer("down"), planes), self.get_buffer("across"))
        energies = turned.square().sum(dim=1).flatten(1)
        return torch.log(energies @ self.get_buffer("chosen") + self.get_buffer("floor"))


class _Isolation(nn.Module):
    """The statistic of that name, as :class:`~dissensus.inputs.surroundings.Surroundings` has it."""

    def __init__(self, shape: tuple[int, ...], near: Surroundings) -> None:
        super().__init__()
        assert near.components is not None
        assert near.whitening is not None
        assert near.lengths is not None
        height, width, _ = shape
        self.count = min(NEIGHBOURS, len(near.rows))
        arrays = {
            "rows": _block_means(height),
            "columns": _block_means(width).T.copy(),
            "mean": near.components.mean,
            "directions": near.components.directions.T.copy(),
            "scales": near.whitening.scales,
            "points": near.rows.T.copy(),
            "squares": np.square(near.rows.astype(np.float64)).sum(axis=1) + near.lengths,
            "spacing": near.spacing,
        }
        for name, array in arrays.items():
            self.register_buffer(name, torch.from_numpy(array))
        self.noise = float(near.whitening.noise[0]) if len(near.whitening.noise) else None

    def forward(self, whole: Tensor) -> Tensor:
        """Of (N, C, H, W)."""
        of = self.get_buffer
        centred = self._textures(whole) - of("mean")
        projected = centred @ of("directions")
        points = torch.clamp(projected / of("scales"), -FARTHEST, FARTHEST).float().double()
        own = points.square().sum(dim=1)
        if self.noise is not None:
            left = centred - projected @ of("directions").T
            lengths = torch.sqrt(left.square().sum(dim=1)) + TINY
            own = own + torch.clamp((lengths / self.noise).square(), max=FARTHEST**2).float().double()
        squares = own[:, None] + of("squares") - 2 * (points @ of("points").double())
        nearest = torch.topk(-squares, self.count, dim=1)
        distances = torch.sqrt(torch.clamp(-nearest.values, min=0.0)) + TOUCHING
        theirs = of("spacing")[nearest.indices].mean(dim=1) + TOUCHING
        return torch.log(distances.mean(dim=1)) - torch.log(theirs)

    def _textures(self, whole: Tensor) -> Tensor:
        """As :func:`~dissensus.inputs.textures.textures`: (N, F)."""
        across = F.pad(whole[:, :, :, 1:] - whole[:, :, :, :-1], (1, 0))
        down = F.pad(whole[:, :, 1:] - whole[:, :, :-1], (0, 0, 1, 0))
        means = [self._blocks(each) / 255 for each in (whole, across.abs(), down.abs())]
        deviations = [torch.sqrt(self._blocks(each.square())) / 255 for each in (across, down)]
        return torch.stack([*means, *deviations], dim=1).flatten(1)

    def _blocks(self, values: Tensor) -> Tensor:
        """Of (N, C, H, W): rows × columns × C of them, (N, …)."""
        blocks = torch.matmul(torch.matmul(self.get_buffer("rows"), values), self.get_buffer("columns"))
        return blocks.permute(0, 2, 3, 1).flatten(1)


def _cosines(size: int) -> Tensor:
    """The orthonormal cosine transform as a matrix (size, size)."""
    places, orders = np.meshgrid(np.arange(size) + 0.5, np.arange(size))
    matrix = np.sqrt(2.0 / size) * np.cos(np.pi * places * orders / size)
    matrix[0] /= np.sqrt(2.0)
    return torch.from_numpy(matrix)


def _block_means(side: int) -> np.ndarray:
    """What takes the mean of each block along a side: (blocks, side)."""
    borders = [*block_borders(side), side]
    means = np.zeros((len(borders) - 1, side))
    for block, (start, stop) in enumerate(itertools.pairwise(borders)):
        means[block, start:stop] = 1.0 / (stop - start)
    return means
