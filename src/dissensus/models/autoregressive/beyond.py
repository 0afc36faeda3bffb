r"""What log p of a picture does not say: whether what it leaves unexplained looks like noise.

*Codes.* Under the model, u_d = P(X_d < x_d | x_<d) + ½ P(X_d = x_d | x_<d) of all pixels are nearly
independent and uniform, however simple or complex the picture is. Whether they are is a question that needs
no other picture (Jiang et al., 2022, ask it of a flow): the distance of their distribution from the uniform
one, and how the codes of neighbouring pixels go together. Of a component, the logistic's value at the middle
of a grey level's bin stands for this; where a bin is wider than the component they differ, for all pictures
alike.

*Gradients.* The derivative of log p by the weights of the network's last layer, its *score*, is zero on
average over inputs that the model generates, and has the Fisher information for its covariance. A picture
that would move the weights far is none that they were learnt from (Kwon et al., 2020). The derivatives by the
mixtures' weights and locations are known without a backward pass: with r_i what component i has to do with
the pixel,

.. math:: \frac{\partial \log p}{\partial \log \pi_i} = r_i - \pi_i, \qquad
          \frac{\partial \log p}{\partial \mu_{ic}} = \frac{r_i}{s_{ic}}
          \frac{\sinh y}{\cosh y + \cosh h}.

Shapes: (B, C, H, W) pictures, I components, F channels that the last layer sees.
"""

from __future__ import annotations

import torch
from torch import Tensor

from dissensus.models.autoregressive.mixture import LEVELS, Mixture
from dissensus.models.typical import misfit

__all__ = ["beyond"]

LEAST = 1e-30  # of what a logarithm is taken


def beyond(told: Mixture, x: Tensor, seen: Tensor) -> dict[str, Tensor]:
    """Numbers (B,) by name: of the codes, and of the gradient by what the last layer sees (B, F, H, W)."""
    inverse = (-told.log_scales).exp()
    half, y = inverse * (0.5 / LEVELS), (x[:, None] - told.locations) * inverse
    lowest, highest = x[:, None] <= 0.5 / LEVELS, x[:, None] >= 1 - 0.5 / LEVELS
    below, above = 0.5 * (y + half).sigmoid(), 1 - 0.5 * (half - y).sigmoid()
    each = torch.where(lowest, below, torch.where(highest, above, y.sigmoid()))
    codes = (told.weights() * each).sum(1)
    slopes = torch.where(
        lowest, -(-y - half).sigmoid(), torch.where(highest, (y - half).sigmoid(), _slope(y, half))
    )
    shares = (told.log_weights + told.factors.sum(2)).softmax(1)
    by_weight = shares - told.log_weights.exp()
    by_location = (shares[:, :, None] * slopes * inverse).flatten(1, 2)
    scores = torch.cat([by_weight, by_location], dim=1).flatten(2)
    gradient = scores @ seen.flatten(2).transpose(1, 2)
    return {
        "misfit": misfit(codes.flatten(1)),
        "dependence": _together(codes),
        "gradient": gradient.double().square().sum((1, 2)).clamp(min=LEAST).log(),
    }


def _slope(y: Tensor, half: Tensor) -> Tensor:
    """sinh y / (cosh y + cosh h), from exp(−|y|) alone."""
    near, grown = (-y.abs()).exp(), half.exp()
    return y.sign() * (1 - near.square()) / (1 + near * (near + grown + 1 / grown))


def _together(codes: Tensor) -> Tensor:
    """The mean correlation (B,) of codes (B, C, H, W) with those to the left and above."""
    centred = (12**0.5) * (codes - 0.5)
    pairs = [centred[:, :, :, 1:] * centred[:, :, :, :-1], centred[:, :, 1:] * centred[:, :, :-1]]
    found = torch.cat([pair.flatten(1) for pair in pairs], dim=1).double()
    return found.sum(1) / max(1, found.shape[1])
