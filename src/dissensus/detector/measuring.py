"""What a detector measures of inputs, and every statistic that it makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dissensus.data import image_statistics
from dissensus.decisions import rounded
from dissensus.detector.settings import find_device
from dissensus.explain import statistics_of
from dissensus.likelihood import input_statistics, keeps_bits
from dissensus.models.inputs import to_tensor
from dissensus.scores import FittedScore, Fused, Score
from dissensus.seeding import numpy_stream

if TYPE_CHECKING:
    from dissensus.detector.estimator import BayesianVAE, OnProgress

__all__ = ["Measured", "every_statistic", "measure", "needs_one_a_call"]

MADE_UP = 64  # inputs that a detector is tried out on


class Measured(NamedTuple):
    """What scores are made of, for N inputs."""

    matrix: NDArray[np.float64]
    """Log-likelihoods (M, N)."""
    others: Mapping[str, NDArray[np.float64]]
    """Statistics (N,) that the matrix does not give, by name; none where the detector does not use them."""

    def fit(self, own: Score | Fused) -> None:
        """Lets a score learn from these inputs, if it is one that learns."""
        if isinstance(own, Fused):
            own.fit(self.matrix, self.others)
        elif isinstance(own, FittedScore):
            own.fit(self.matrix)

    def score(self, own: Score | Fused) -> NDArray[np.float64]:
        """Higher = more out-of-distribution (N,), rounded as decisions need it."""
        return rounded(own(self.matrix, self.others) if isinstance(own, Fused) else own(self.matrix))


def measure(
    gate: BayesianVAE,
    inputs: NDArray[Any],
    *,
    on_progress: OnProgress | None = None,
    stage: str = "scoring",
) -> Measured:
    """Of checked inputs (N, H, W, C) or (N, D)."""
    data = to_tensor(gate._standardised(inputs))
    others = {}
    if isinstance(gate.score_, Fused):
        others = input_statistics(
            gate.vae_, gate.draws_, data, device=find_device(gate.device), one_a_call=gate.one_a_call_
        )
        if inputs.ndim == 4:
            others |= image_statistics(inputs)
    return Measured(gate._likelihoods(data, on_progress=on_progress, stage=stage).values, others)


def needs_one_a_call(gate: BayesianVAE) -> bool:
    """Whether an input's bits would depend on its place among others: tried out on made-up inputs.

    What matters is their shape, and they are a function of the seed: a detector that was saved and loaded is
    tried with the same ones, and decides as it did when it was fitted.
    """
    random, shape = numpy_stream(gate.seed_, "places"), (MADE_UP, *gate.input_shape_)
    if gate.standardiser_ is None:
        inputs = random.integers(0, 256, shape, dtype=np.uint8)
    else:
        inputs = random.normal(size=shape).astype(np.float32)
    return not keeps_bits(
        gate.vae_,
        gate.draws_,
        to_tensor(inputs),
        samples=gate.samples,
        seed=gate.seed_,
        device=find_device(gate.device),
    )


def every_statistic(
    gate: BayesianVAE, inputs: NDArray[Any], *, on_progress: OnProgress | None = None, stage: str = "scoring"
) -> dict[str, NDArray[np.float64]]:
    """Every statistic of checked inputs (N,), by name; the detector's own among them."""
    return statistics_of(
        *measure(gate, inputs, on_progress=on_progress, stage=stage), own=gate.statistic_, score=gate.score_
    )
