"""A fitted detector's explanations of inputs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from dissensus.data import image_suffixes
from dissensus.decisions import conformal_p_values
from dissensus.detector.measuring import measure_everything
from dissensus.detector.settings import find_device
from dissensus.explain import Decision, Explanation, first_codes, occlusion, standing, statistics_of, views
from dissensus.models.inputs import to_tensor

if TYPE_CHECKING:
    from dissensus.detector.estimator import BayesianVAE

__all__ = ["as_batch", "explain_batch"]


def as_batch(x: Any, shape: tuple[int, ...]) -> tuple[Any, bool]:
    """``x`` as a batch, and whether it was a single input of ``shape`` (D,) or (H, W, C)."""
    if isinstance(x, str | Path):
        # Unlike Path's own, this is False for names that no file could have.
        return x, os.path.isfile(x) and Path(x).suffix.lower() in image_suffixes()  # noqa: PTH113
    if isinstance(x, list | tuple):
        try:
            x = np.asarray(x)
        except ValueError:  # of different lengths, as the check of all inputs will say
            return x, False
    own = tuple(np.shape(x))
    single = own == shape or (shape[2:] == (1,) and own == shape[:2]) or (len(shape) == 1 and len(own) == 1)
    if not single:
        return x, False
    return (x[None] if isinstance(x, Tensor) else np.asarray(x)[None]), True


def explain_batch(
    gate: BayesianVAE, inputs: NDArray[Any], *, reconstructions: int, neighbours: int
) -> list[Explanation]:
    """One explanation for each of the checked inputs (N, H, W, C) or (N, D)."""
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
    pictures = _in_input_units(gate, seen.reconstructions, inputs.dtype)
    codes = first_codes(gate.vae_, gate.draws_, data, device=device)
    nearest = gate.examples_.nearest(codes, neighbours)
    names = getattr(gate, "feature_names_in_", None) if gate.table_ is None else gate.table_.features
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
            None if names is None else tuple(map(str, names)),
            _largest_first({name: float(nats[n]) for name, nats in surprises.items()}),
        )
        for n in range(len(inputs))
    ]


def _largest_first(values: dict[str, float]) -> dict[str, float]:
    return dict(sorted(values.items(), key=lambda pair: -pair[1]))


def _in_input_units(gate: BayesianVAE, seen: NDArray[np.float32], dtype: np.dtype[Any]) -> NDArray[Any]:
    if gate.standardiser_ is not None:
        return gate.standardiser_.mean + gate.standardiser_.scale * seen
    pixels = seen.clip(0, 1)
    return (255 * pixels).round().astype(np.uint8) if dtype == np.uint8 else pixels
