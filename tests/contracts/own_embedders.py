"""Embedders as a person would write them in a module of her own.

Tests copy this file into the folder that the person works in.
"""

import numpy as np
import torch
from torch import nn

from dissensus.inputs import Embedder


def halves(pictures):
    """Means of the left and right halves, and the deviation, of uint8 pictures (n, C, H, W)."""
    assert pictures.dtype == np.uint8
    middle = pictures.shape[3] // 2
    parts = (pictures[..., :middle].mean((1, 2, 3)), pictures[..., middle:].mean((1, 2, 3)))
    return np.stack([*parts, pictures.std((1, 2, 3))], axis=1)


def letters(texts):
    """How long texts are, and how often they hold a and b; of a table, those in the column "text"."""
    texts = [text["text"] if isinstance(text, dict) else text for text in texts]
    return [[len(text), text.count("a"), text.count("b")] for text in texts]


class Projection(Embedder):
    """Numbers of an input, times a matrix made of a seed."""

    def __init__(self, size=3, seed=0):
        self.size, self.seed = size, seed

    def __call__(self, batch):
        flat = np.asarray(batch, np.float64).reshape(len(batch), -1)
        return flat @ np.random.default_rng(self.seed).normal(size=(flat.shape[1], self.size))


class Forgetful(Projection):
    """One that does not keep its argument."""

    def __init__(self, width=3):
        super().__init__(width)


class Net(nn.Module):
    """A network of 8×8 grey pictures that has no weights but those it makes of a seed."""

    def __init__(self, seed=0):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.weight = nn.Parameter(torch.randn(64, 4, generator=generator))
        self.dropout = nn.Dropout(0.5)

    def forward(self, pictures):
        return self.dropout(pictures.flatten(1) @ self.weight)


net, other_net = Net(), Net(1)
