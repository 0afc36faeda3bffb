"""Likelihood less what a lossless coder makes of the input."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dissensus.errors import DataError
from dissensus.scores._likelihood import mean_log_likelihood
from dissensus.scores._matrix import FloatArray

__all__ = ["input_complexity"]


def input_complexity(matrix: ArrayLike, bits: ArrayLike) -> FloatArray:
    r"""Serrà et al. (2020): :math:`-\frac{1}{M} \sum_m \log p(x|θ_m) - L(x)`, in nats.

    L(x) is the length of the input under a lossless coder, ``bits`` (N,), from
    :func:`dissensus.inputs.code_length`. A likelihood ratio between the model and the coder: simple inputs
    are likely under any model, and this takes that away. It means what it says for discrete observation
    models alone; a density or a cross entropy is not in units of the coder's nats.

    Shapes: (M, N), (N,) → (N,).

    >>> input_complexity([[-100.0, -100.0]], [0.0, 100.0]).round(1)
    array([100. ,  30.7])
    """
    surprise = mean_log_likelihood(matrix)
    lengths = np.asarray(bits, dtype=np.float64)
    if lengths.shape != surprise.shape:
        raise DataError(
            f"bits must be one length for each of the {len(surprise)} inputs, not of shape {lengths.shape}"
        )
    return surprise - lengths * math.log(2.0)
