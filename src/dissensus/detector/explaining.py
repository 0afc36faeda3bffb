"""A fitted detector's explanations of inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from dissensus.decisions import conformal_p_values
from dissensus.detector.measuring import measure_everything
from dissensus.detector.settings import find_device
from dissensus.explain import Decision, Explanation, first_codes, occlusion, standing, statistics_of, views
from dissensus.inputs import Prepared, Preprocessor, in_memory, is_picture_file
from dissensus.models.inputs import to_tensor

if TYPE_CHECKING:
    from dissensus.detector.estimator import BayesianVAE

__all__ = ["as_batch", "explain_batch"]


def as_batch(x: Any, preprocessor: Preprocessor) -> tuple[Any, bool]:
    """``x`` as a batch, and whether it was a single input."""
    if isinstance(x, Prepared) or not in_memory(x):
        return x, is_picture_file(x)
    if isinstance(x, list | tuple):
        try:
            x = np.asarray(x)
        except ValueError:  # of different lengths, as the check of all inputs will say
            return x, False
    if not preprocessor.is_single(tuple(np.shape(x))):
        return x, False
    return (x[None] if isinstance(x, Tensor) else np.asarray(x)[None]), True


def explain_batch(
    gate: BayesianVAE, batch: Prepared, *, reconstructions: int, neighbours: int
) -> list[Explanation]:
    """One explanation for each of the checked inputs (N, H, W, C) or (N, D)."""
    inputs, preprocessor = batch.array, gate.preprocessor_
    data, device = to_tensor(gate._standardised(inputs)), find_device(gate.device)
    measured = measure_everything(gate, inputs)
    statistics = statistics_of(measured, gate.score_)
    surprises = gate.score_.surprises(measured)
    scores = statistics[gate.statistic_]
    p_values = conformal_p_values(gate.calibration_scores_, scores)
    seen = views(gate.vae_, gate.draws_, data, reconstructions=reconstructions, device=device)
    maps = seen.disagreement
    if gate.vae_.explained_by == "occlusion":
        maps = occlusion(data, lambda rows: gate._likelihoods(rows).values)
    pictures = preprocessor.inverse(seen.reconstructions, inputs.dtype)
    codes = first_codes(gate.vae_, gate.draws_, data, device=device)
    nearest = gate.examples_.nearest(codes, neighbours)
    return [
        Explanation(
            Decision(float(scores[n]), float(p_values[n]), bool(scores[n] > gate.threshold_)),
            inputs[n],
            maps[n],
            pictures[n],
            *nearest[n],
            {
                name: standing(values[n], gate.calibration_statistics_.get(name))
                for name, values in statistics.items()
            },
            preprocessor.columns,
            _largest_first({name: float(nats[n]) for name, nats in surprises.items()}),
            preprocessor.pictured,
            tuple(batch.notes.get(n, ())),
        )
        for n in range(len(inputs))
    ]


def _largest_first(values: dict[str, float]) -> dict[str, float]:
    return dict(sorted(values.items(), key=lambda pair: -pair[1]))
