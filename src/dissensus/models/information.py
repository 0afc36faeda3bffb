r"""How much an output tells of which draw made it: the disagreement of draws about what z decodes to.

.. math:: I(x_d; m \mid z) = \mathrm H\Big[\frac1M \sum_m p(x_d|z,\theta_m)\Big]
          - \frac1M \sum_m \mathrm H\big[p(x_d|z,\theta_m)\big]

in nats, for each place d of an output by itself: zero where all draws say the same, at most log M.
"""

from __future__ import annotations

import math

from torch import Tensor
from torch.nn import functional as F  # noqa: N812

__all__ = ["information_of_categories", "information_of_logits", "information_of_moments"]


def information_of_categories(log_p: Tensor) -> Tensor:
    """Of categories with log-probabilities (M, ..., V): (...).

    >>> import torch
    >>> information_of_categories(torch.tensor([[0.0, -60.0], [-60.0, 0.0]])).round(decimals=4)
    tensor(0.6931, dtype=torch.float64)
    """
    log_p = log_p.double()
    mixture = log_p.logsumexp(0) - math.log(len(log_p))
    return (log_p.exp() * (log_p - mixture)).sum(-1).mean(0)


def information_of_logits(logits: Tensor) -> Tensor:
    """Of coin flips with logits (M, ...): (...)."""
    logits = logits.double()
    heads, tails = F.logsigmoid(logits), F.logsigmoid(-logits)
    p, shift = logits.sigmoid(), math.log(len(logits))
    both = ((heads, p, heads.logsumexp(0) - shift), (tails, 1 - p, tails.logsumexp(0) - shift))
    terms: Tensor = sum(share * (own - mixture) for own, share, mixture in both)  # type: ignore[assignment]
    return terms.mean(0)


def information_of_moments(mean: Tensor, variance: Tensor) -> Tensor:
    """Of densities with means and variances (M, ...), as if each and their mixture were normal: (...).

    A mixture of normals has less entropy than one normal of its variance: this is a bound from above.
    """
    mean, variance = mean.double(), variance.double()
    whole = variance.mean(0) + mean.var(0, correction=0)
    return 0.5 * (whole.log() - variance.log().mean(0))
