r"""Mixtures of discretised logistics: what is predicted of a pixel, and how likely its grey levels are.

Component i has a weight π_i and, for each channel c of the pixel, a location and a scale. The location moves
with the channels before it (Salimans et al., 2017),

.. math:: \mu_{ic} = a_i + m_{ic} + \sum_{b < c} \tanh(r_{icb}) (x_b - \tfrac12),

and channel c's own factor is a logistic, integrated over the bin of the grey level. With y = (x − μ)/s and
half a bin h = (2·255·s)⁻¹,

.. math:: \sigma(y + h) - \sigma(y - h) = \frac{\sinh h}{\cosh y + \cosh h},

a form without differences of nearly equal numbers. The first and the last level take the tails, so that the
256 probabilities sum to one. With P_{ic} the product of component i's factors up to channel c,

.. math:: \log p(x_c | x_{<c}) = \log \textstyle\sum_i \pi_i P_{ic} - \log \sum_i \pi_i P_{i,c-1}.

Shapes: (B, C, H, W) pictures of values k/255, I components; parameters (B, Q, H, W).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

__all__ = ["LEVELS", "Mixture", "expected_surprise", "mixture", "parameters_per_pixel"]

LEVELS = 255  # the highest of the 256
# log s = CENTRE + REACH·tanh(r/REACH): at r = 0, s = 0.14; always within e⁻⁷ (a quarter of a bin, narrower
# gains nothing) and e³ (flat over [0, 1]). The same as DiscretisedLogistic's.
CENTRE, REACH = -2.0, 5.0


def parameters_per_pixel(channels: int, components: int) -> int:
    """Q: a weight, and for each channel a location, a scale and one number for each channel before it.

    >>> parameters_per_pixel(1, 5), parameters_per_pixel(3, 10)
    (15, 100)
    """
    return components * (1 + 2 * channels + channels * (channels - 1) // 2)


class Mixture(NamedTuple):
    """What is predicted of pictures whose pixels are known, channel by channel."""

    log_weights: Tensor
    """log π (B, I, H, W), which sum to one."""
    locations: Tensor
    """μ (B, I, C, H, W), given the channels before."""
    log_scales: Tensor
    """log s (B, I, C, H, W)."""
    factors: Tensor
    """Each component's log p of each channel, as it is: (B, I, C, H, W)."""

    def log_prob(self) -> Tensor:
        """log p (B, H, W) of each pixel, all of its channels together."""
        return (self.log_weights + self.factors.sum(2)).logsumexp(1)

    def terms(self) -> Tensor:
        """log p of each channel given those before, (B, C, H, W); over channels they add up to a pixel's."""
        joint = (self.log_weights[:, :, None] + self.factors.cumsum(2)).logsumexp(1)
        return torch.cat([joint[:, :1], joint[:, 1:] - joint[:, :-1]], dim=1)

    def weights(self) -> Tensor:
        """Each component's weight for a channel once those before are known: (B, I, C, H, W)."""
        known = self.log_weights[:, :, None] + self.factors.cumsum(2) - self.factors
        return known.softmax(1)


def mixture(x: Tensor, parameters: Tensor) -> Mixture:
    """The mixtures that parameters (B, Q, H, W) and pictures x (B, C, H, W) make."""
    channels = x.shape[1]
    pairs = channels * (channels - 1) // 2
    batch, _, *sides = parameters.shape
    own = parameters.reshape(batch, -1, 1 + 2 * channels + pairs, *sides)  # (B, I, ., H, W)
    weight, shift, scale, link = torch.split(own, [1, channels, channels, pairs], dim=2)
    # Components are spread over the grey levels, so that without a word from the network all are covered.
    spread = (torch.arange(own.shape[1], device=x.device, dtype=x.dtype) + 0.5) / own.shape[1]
    locations = shift + spread[:, None, None, None]
    if pairs:
        locations = locations + _known(x, link)
    log_scales = CENTRE + REACH * (scale / REACH).tanh()
    return Mixture(weight[:, :, 0].log_softmax(1), locations, log_scales, _factors(x, locations, log_scales))


def _known(x: Tensor, link: Tensor) -> Tensor:
    """What the channels before add to each channel's location: (B, I, C, H, W)."""
    links, centred = link.tanh(), x[:, None] - 0.5
    added, at = [torch.zeros_like(links[:, :, :1])], 0
    for channel in range(1, x.shape[1]):
        own = links[:, :, at : at + channel] * centred[:, :, :channel]
        added.append(own.sum(2, keepdim=True))
        at += channel
    return torch.cat(added, dim=2)


def _factors(x: Tensor, locations: Tensor, log_scales: Tensor) -> Tensor:
    """Each component's log p of each channel: (B, I, C, H, W)."""
    inverse = (-log_scales).exp()
    half = inverse * (0.5 / LEVELS)
    y = (x[:, None] - locations) * inverse
    away = y.abs()
    near = (-away).exp()
    # log(2 sinh h / (2 cosh y + 2 cosh h)), with exp|y| taken out of the denominator.
    grown = half.exp()
    inside = _twice_sinh(half).log() - away - (1 + near * (near + grown + 1 / grown)).log()
    lowest, highest = x[:, None] <= 0.5 / LEVELS, x[:, None] >= 1 - 0.5 / LEVELS
    # log σ, in a form that is exact in ONNX too.
    tail = -functional.softplus(-torch.where(lowest, half + y, half - y))
    return torch.where(lowest | highest, tail, inside)


def _twice_sinh(h: Tensor) -> Tensor:
    """2 sinh h for 0 < h < 2.2, by its series: eʰ − e⁻ʰ has no digits left where h is small."""
    square = h.square()
    series = torch.ones_like(h)
    for n in (156, 110, 72, 42, 20, 6):
        series = 1 + square / n * series
    return 2 * h * series


def expected_surprise(told: Mixture) -> Tensor:
    """How many nats each channel's components expect of it (B, C, H, W): log s + 2, and those of a bin."""
    each = (told.log_scales + (2 + math.log(LEVELS))).clamp(min=0)
    return (told.weights() * each).sum(1)
