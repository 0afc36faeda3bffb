"""A process of its own that fits a small gate and times how long it takes over pictures.

It uses nothing of the package but ``BayesianVAE``, so that an older commit's package can be timed by it too.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed.worker import answer_requests

__all__: list[str] = []

_gates: dict[str, Any] = {}


def _pictures(shape: list[int], count: int) -> NDArray[np.uint8]:
    """Smooth blobs with some noise; what they show makes no difference to the time."""
    rng = np.random.default_rng(0)
    height, width, channels = shape
    down, across = np.linspace(0, 3, height)[:, None, None], np.linspace(0, 3, width)[:, None]
    phase = rng.uniform(0, 6, (count, 1, 1, channels))
    wave = np.sin(down + phase) * np.cos(across + 2 * phase)
    pictures = (120 + 80 * wave + rng.integers(0, 40, (count, *shape))).astype(np.uint8)
    return pictures[..., 0] if channels == 1 else pictures


def _fit(shape: list[int], count: int, epochs: int, seed: int = 0) -> list[str]:
    """Fits a gate to pictures of a shape; says which efforts it knows."""
    from dissensus import BayesianVAE

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gate = BayesianVAE(epochs=epochs, random_state=seed, device="cpu").fit(_pictures(shape, count))
    _gates[str(shape)] = gate
    return [effort.name for effort in gate.efforts_] if hasattr(gate, "efforts_") else []


def _seconds(shape: list[int], count: int, effort: str | None = None) -> list[float]:
    """How long a decision over so many pictures takes, on the clock and of all cores' time together."""
    gate, asked = _gates[str(shape)], _pictures(shape, count)
    if effort is not None:
        gate.effort = effort
    began, busy = time.perf_counter(), time.process_time()
    gate.decide(asked)
    return [time.perf_counter() - began, time.process_time() - busy]


if __name__ == "__main__":
    answer_requests({"fit": _fit, "seconds": _seconds})
