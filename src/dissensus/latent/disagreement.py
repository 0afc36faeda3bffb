"""How much the draws disagree about what a latent point decodes to."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.latent.mixture import mixture_samples
from dissensus.latent.one_space import check_one_space
from dissensus.latent.points import list_of_size
from dissensus.likelihood import log_likelihoods
from dissensus.models import LatentModel
from dissensus.posterior import WeightDraws
from dissensus.scores import ess_disagreement
from dissensus.seeding import stream_seed

__all__ = ["expected_disagreement"]


def expected_disagreement(
    model: LatentModel,
    draws: WeightDraws,
    z: Tensor,
    *,
    inputs: int = 32,
    samples: int = 16,
    score: Callable[[NDArray[np.float64]], NDArray[np.float64]] = ess_disagreement,
    seed: int = 0,
    device: torch.device | str = "cpu",
    block: int = 256,
    on_block: Callable[[int], None] | None = None,
) -> NDArray[np.float64]:
    r"""The mean disagreement about what latent points decode to: (n, Z) → (n,), higher = more unusual.

    .. math:: D[z] = \mathrm{E}_{p(x|z, \mathcal D)} \, D[x] \simeq \frac{1}{L} \sum_l D[x_l]

    with L = ``inputs`` decoded by :func:`mixture_samples` and D any function of the matrix, (M, N) → (N,).
    The default is the paper's effective sample size in the form that never ties; its very own is
    ``lambda matrix: -effective_sample_size(matrix)``. A function that gives several scores at once, (S, N),
    gets them all of the same decoded inputs: (S, n).

    All draws must share one latent space (:func:`~dissensus.latent.shared_space`); those of several chains
    are a SettingsError. The cost is n · L · M · K decodings with K = ``samples``; memory is bounded by
    ``block`` points at a time. ``on_block`` is called with the number of points just finished.
    """
    z = list_of_size(z, model.latent_size)
    check_one_space(model, draws)
    values = [np.empty(0)] * (not len(z))
    for start in range(0, len(z), block):
        points = z[start : start + block]
        # A stream for each block: what a point gets does not depend on the blocks after its own.
        x = mixture_samples(
            model, draws, points, inputs=inputs, seed=stream_seed(seed, "block", start), device=device
        )
        matrix = log_likelihoods(model, draws, x.flatten(0, 1), samples=samples, seed=seed, device=device)
        each = score(matrix.values)
        values.append(each.reshape(*each.shape[:-1], len(points), inputs).mean(axis=-1))
        if on_block is not None:
            on_block(len(points))
    return np.concatenate(values, axis=-1)
