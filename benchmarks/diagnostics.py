"""What a record says about a run's draws, without any outlier: by the sampler, and by validation inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.posterior import WeightDraws
from dissensus.scores import mixture_log_likelihood

__all__ = ["NOISE_FLOOR_INPUTS", "likelihood_summary", "run_diagnostics"]

NOISE_FLOOR_INPUTS = 256  # enough for a root mean square


def run_diagnostics(draws: WeightDraws) -> dict[str, Any]:
    """What the sampler said of itself.

    Medians over chains in the last epoch, how far the chains agree, the verdict, and curves by epoch.
    """
    reports = draws.diagnostics.reports
    epochs = sorted({report.epoch for report in reports})
    curves = {epoch: [report for report in reports if report.epoch == epoch] for epoch in epochs}
    health = draws.diagnostics.health()
    return {
        "last_epoch": {
            name: {
                number: [
                    {**each, "heat": None if each["heat"] is None else _finite(each["heat"])}
                    for each in value
                ]
                if number == "by_kappa"
                else _finite(value)
                for number, value in numbers.items()
            }
            for name, numbers in health["networks"].items()
        },
        "rhat": None if health["rhat"] is None else _finite(health["rhat"]),
        "effective_size": health["effective_size"],
        "verdict": health["verdict"],
        "training_elbo": [_mean([r.training_elbo for r in curves[epoch]]) for epoch in epochs],
        "held_out_log_likelihood": [
            _mean([r.held_out_log_likelihood for r in curves[epoch] if r.held_out_log_likelihood is not None])
            for epoch in epochs
        ],
    }


def likelihood_summary(matrix: NDArray[np.float64]) -> dict[str, float]:
    """Of the validation inputs (M, n): the draws' mean, and that of their mixture, in nats an input."""
    return {
        "validation_log_likelihood": float(matrix.mean()),
        "validation_log_likelihood_of_mixture": -float(mixture_log_likelihood(matrix).mean()),
    }


def _mean(values: list[float]) -> float | None:
    return _finite(float(np.mean(values))) if values else None


def _finite(value: float) -> float | None:
    """Records are JSON, which has no word for infinity."""
    return float(value) if np.isfinite(value) else None
