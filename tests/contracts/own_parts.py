"""A model of pictures, a VAE and observation models as a person would write them in a module of her own.

Tests copy this file into the folder that the person works in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from dissensus.models import VAE, Bernoulli, Gaussian, GenerativeModel


class Small(VAE):
    """A VAE with networks of one layer, which its config describes."""

    def __init__(self, shape, clip=None):
        size = math.prod(shape)
        encoder = nn.Sequential(nn.Flatten(), nn.Linear(size, 4))
        super().__init__(encoder, nn.Linear(2, size), Bernoulli(), shape, 2, clip=clip)

    def config(self):
        return {"shape": list(self.input_shape), "clip": self.clip}

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    @classmethod
    def for_inputs(cls, shape, *, clip, generator):  # noqa: ARG003
        return cls(shape, clip=clip)


class Unsaved(Small):
    """One whose config is no JSON."""

    def config(self):
        return {"shape": np.zeros(2)}


class Pixels(GenerativeModel):
    """p(x) = ∏ N(x_d; μ_d, 1/4) of pixels in [0, 1]: an exact model of pictures that tells no terms."""

    def __init__(self, shape):
        super().__init__()
        self.input_shape = tuple(shape)
        self.means = nn.Parameter(torch.zeros(*shape))

    def initialise_(self, generator):
        with torch.no_grad():
            self.means.copy_(torch.rand(self.means.shape, generator=generator))

    def read(self, x):
        return x.float() / 255 if x.dtype == torch.uint8 else x

    def objective(self, x, noise):
        return self.log_likelihood(x, noise, ())[0]

    def log_likelihood(self, x, noise, inferred):
        log_p = -2 * (self.read(x).double() - self.means).square().flatten(1).sum(1)
        return log_p, torch.zeros_like(log_p)

    def config(self):
        return {"shape": list(self.input_shape)}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


@dataclass(frozen=True)
class Sharp(Gaussian):
    """A Gaussian with another default."""

    name = "sharp"
    scale: float = 0.2


@dataclass(frozen=True)
class Picky(Gaussian):
    """One that cannot be made without an argument."""

    name = "picky"

    def __init__(self, scale):
        super().__init__(scale)
