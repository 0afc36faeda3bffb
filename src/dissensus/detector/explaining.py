"""A fitted detector's explanations of inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.decisions import conformal_p_values
from dissensus.detector.learnt import Learnt
from dissensus.detector.measuring import likelihoods, measure, measure_everything
from dissensus.explain import Decision, Explanation, first_codes, occlusion, standing, statistics_of, views
from dissensus.inputs import Prepared, Preprocessor, in_memory, is_picture_file
from dissensus.models.inputs import to_tensor
from dissensus.scores import scored

__all__ = ["as_batch", "explain_batch"]


def as_batch(x: Any, preprocessor: Preprocessor) -> tuple[Any, bool]:
    """``x`` as a batch, and whether it was a single input."""
    if isinstance(x, Prepared) or not in_memory(x):
        return x, is_picture_file(x)
    if preprocessor.kind == "objects":
        return x, False
    if isinstance(x, list | tuple):
        try:
            x = np.asarray(x)
        except ValueError:  # of different lengths, as the check of all inputs will say
            return x, False
    if not preprocessor.is_single(tuple(np.shape(x))):
        return x, False
    return (x[None] if isinstance(x, Tensor) else np.asarray(x)[None]), True


def explain_batch(
    learnt: Learnt,
    batch: Prepared,
    *,
    known: Sequence[str | None],
    threshold: float,
    reconstructions: int,
    neighbours: int,
    device: torch.device,
) -> list[Explanation]:
    """One explanation for each of the inputs that were read before; of embedded ones, for their vectors.

    ``known`` has what a person said of each before.
    """
    inputs, preprocessor = batch.array, learnt.preprocessor
    seen_by_model = preprocessor.transform(inputs)
    shown, data = preprocessor.shown(inputs, seen_by_model), to_tensor(seen_by_model)
    measured = measure_everything(learnt, inputs, device=device, data=data)
    statistics = statistics_of(measured, learnt.score)
    surprises = learnt.score.surprises(measured)
    scores = statistics[learnt.score.name]
    p_values = conformal_p_values(learnt.calibration_scores, scores)
    seen = views(learnt.model, learnt.draws, data, reconstructions=reconstructions, device=device)
    maps = seen.disagreement
    if learnt.model.explained_by == "occlusion":
        # A score that adds up nats grows however absurd a value is, and so tells its column; others may not.
        adds_up = bool(surprises) and not preprocessor.pictured
        maps = occlusion(
            data,
            lambda some: (
                _score(learnt, some, inputs.dtype, device) if adds_up else _spread(learnt, some, device)
            ),
        )
    pictures = preprocessor.inverse(seen.reconstructions, inputs.dtype)
    codes = first_codes(learnt.model, learnt.draws, data, device=device)
    nearest = learnt.examples.nearest(codes, neighbours)
    return [
        Explanation(
            Decision(float(scores[n]), float(p_values[n]), bool(scores[n] > threshold)),
            shown[n],
            maps[n],
            pictures[n],
            *nearest[n],
            {name: standing(values[n], learnt.calibration.get(name)) for name, values in statistics.items()},
            preprocessor.columns,
            _largest_first({name: float(nats[n]) for name, nats in surprises.items()}),
            preprocessor.pictured,
            notes := tuple(batch.notes.get(n, ())),
            preprocessor.cells(shown[n], maps[n], pictures[n], nearest[n][0], notes),
            known[n],
        )
        for n in range(len(inputs))
    ]


def _score(learnt: Learnt, data: Tensor, dtype: np.dtype[Any], device: torch.device) -> NDArray[np.float64]:
    """The score of what the model reads of rows (n, D)."""
    rows = learnt.preprocessor.inverse(data.numpy(), dtype)
    return scored(learnt.score, measure(learnt, rows, learnt.score.requires, device=device, data=data))


def _spread(learnt: Learnt, data: Tensor, device: torch.device) -> NDArray[np.float64]:
    """How far the draws are apart about what the model reads (n, *S)."""
    return np.asarray(likelihoods(learnt, data, device=device).values.std(axis=0))


def _largest_first(values: dict[str, float]) -> dict[str, float]:
    return dict(sorted(values.items(), key=lambda pair: -pair[1]))
