"""What pictures tell without a model, by matrix products in float64: for a GPU, and to make ONNX of."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from dissensus.inputs.in_torch.surrounding import Surrounding
from dissensus.inputs.pictures import PREDICTED, PicturePreprocessor
from dissensus.inputs.predicted_code import BIT
from dissensus.inputs.spectra import ROUNDING, bands, directions, spectrum_names
from dissensus.inputs.textures import block_borders

__all__ = ["Picturing"]


class Picturing(nn.Module):
    """The wanted statistics (N,), by name, of uint8 pictures (N, H, W, C)."""

    def __init__(self, preprocessor: PicturePreprocessor, wanted: Collection[str]) -> None:
        super().__init__()
        shape = preprocessor.shape
        self.predicts = PREDICTED in wanted
        self.spectrum = _Spectrum(shape) if set(wanted) & set(spectrum_names(shape)) else None
        near = preprocessor.surroundings
        self.surrounding = None
        if near is not None and "isolation" in wanted:
            self.surrounding = nn.Sequential(_Textures(shape), Surrounding(near))

    def forward(self, pixels: Tensor, _: Tensor) -> dict[str, Tensor]:
        """By name; more may be there than are wanted."""
        whole = pixels.to(torch.float64).permute(0, 3, 1, 2)  # (N, C, H, W)
        found: dict[str, Tensor] = {}
        if self.predicts:
            found[PREDICTED] = _predicted_length(whole)
        if self.spectrum is not None:
            found |= self.spectrum(whole)
        if self.surrounding is not None:
            found["isolation"] = self.surrounding(whole)["isolation"]
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


class _Textures(nn.Module):
    """As :func:`~dissensus.inputs.textures.textures`: (N, F) of (N, C, H, W)."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        height, width, _ = shape
        self.register_buffer("rows", torch.from_numpy(_block_means(height)))
        self.register_buffer("columns", torch.from_numpy(_block_means(width).T.copy()))

    def forward(self, whole: Tensor) -> Tensor:
        across = F.pad(whole[:, :, :, 1:] - whole[:, :, :, :-1], (1, 0))
        down = F.pad(whole[:, :, 1:] - whole[:, :, :-1], (0, 0, 1, 0))
        means = [self._blocks(each.abs()) for each in (across, down)]
        deviations = [torch.sqrt(self._blocks(each.square())) for each in (across, down)]
        rough = [torch.sqrt(each / 255) for each in (*means, *deviations)]
        return torch.stack([self._blocks(whole) / 255, *rough], dim=1).flatten(1)

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
