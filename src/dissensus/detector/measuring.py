"""What a detector measures of inputs, and every statistic that it makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dissensus.detector.settings import find_device
from dissensus.explain import statistics_of
from dissensus.inputs import statistic_names_without_model
from dissensus.likelihood import input_statistics, keeps_bits, statistic_names
from dissensus.models import GenerativeModel
from dissensus.models.inputs import to_tensor
from dissensus.scores import MATRIX, Available, Measured
from dissensus.seeding import numpy_stream

if TYPE_CHECKING:
    from dissensus.detector.estimator import BayesianVAE, OnProgress

__all__ = ["available_statistics", "every_statistic", "measure", "measure_everything", "needs_one_a_call"]

MADE_UP = 64  # inputs that a detector is tried out on


def available_statistics(model: GenerativeModel, shape: Sequence[int], *, several: bool) -> Available:
    """Return which statistics can be measured of inputs (H, W, C) or (D,).

    ``several`` says whether chains have several weights of the model's inference parts.
    """
    return Available(statistic_names(model, several=several), statistic_names_without_model(shape))


def measure(
    gate: BayesianVAE, inputs: NDArray[Any], *, on_progress: OnProgress | None = None, stage: str = "scoring"
) -> Measured:
    """Return what the detector's score requires of checked inputs (N, H, W, C) or (N, D), and no more."""
    return _measure(gate, inputs, gate.score_.requires, on_progress=on_progress, stage=stage)


def measure_everything(
    gate: BayesianVAE, inputs: NDArray[Any], *, on_progress: OnProgress | None = None, stage: str = "scoring"
) -> Measured:
    """Return all that there is to show about inputs beside their score.

    That is the matrix, and where the score requires other statistics, all of these.
    """
    wanted: tuple[str, ...] = (MATRIX,)
    if set(gate.score_.requires) - {MATRIX}:
        of_inputs = statistic_names_without_model(gate.preprocessor_.shape)
        wanted = (MATRIX, *gate.vae_.observed, *of_inputs)
    return _measure(gate, inputs, wanted, on_progress=on_progress, stage=stage)


def _measure(
    gate: BayesianVAE,
    inputs: NDArray[Any],
    wanted: Sequence[str],
    *,
    on_progress: OnProgress | None,
    stage: str,
) -> Measured:
    data = to_tensor(gate._standardised(inputs))
    others: dict[str, NDArray[np.float64]] = {}
    if of_draws := [name for name in wanted if name in gate.vae_.observed]:
        others |= input_statistics(
            gate.vae_,
            gate.draws_,
            data,
            only=of_draws,
            device=find_device(gate.device),
            one_a_call=gate.one_a_call_,
        )
    if not {MATRIX, *others}.issuperset(wanted):
        own = gate.preprocessor_.statistics(inputs)
        others |= {name: values for name, values in own.items() if name in wanted}
    matrix = None
    if MATRIX in wanted:
        matrix = gate._likelihoods(data, on_progress=on_progress, stage=stage).values
    elif on_progress is not None:
        on_progress(stage, len(inputs), len(inputs))
    return Measured(matrix, others)


def needs_one_a_call(gate: BayesianVAE) -> bool:
    """Whether an input's bits would depend on its place among others: tried out on made-up inputs.

    What matters is their shape, and they are a function of the seed: a detector that was saved and loaded is
    tried with the same ones, and decides as it did when it was fitted.
    """
    inputs = gate.preprocessor_.made_up(MADE_UP, numpy_stream(gate.seed_, "places"))
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
    """Every statistic of checked inputs (N,), by name; the detector's own first."""
    return statistics_of(measure_everything(gate, inputs, on_progress=on_progress, stage=stage), gate.score_)
