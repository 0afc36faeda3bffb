"""Part (l): decisions a second on a GPU, from uint8 pictures in the host's memory to verdicts there."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.speed.comparison import more
from benchmarks.speed.sizes import Sizes
from benchmarks.speed.subject import conv_vae, images, random_draws
from benchmarks.speed.timing import alternate, median, seconds
from dissensus.defaults import FAST, STANDARD
from dissensus.detector import BayesianVAE
from dissensus.detector.effort import at_effort
from dissensus.detector.measuring import measure, scores_of_measured
from dissensus.evaluation import cores
from dissensus.likelihood import log_likelihoods
from dissensus.models.vae.scorer import compiled_scorer, tile_scorer

__all__ = ["measure_end_to_end"]

GOAL = 100_000  # pictures a second
EFFORTS = (FAST, STANDARD)
SAMPLES = 16  # K of the matrix by which the compiler's warm-up is measured


def measure_end_to_end(sizes: Sizes, device: torch.device) -> dict[str, Any]:
    """Pictures a second of each cheap effort, where their time goes, and when the compiler pays."""
    fitted, asked, epochs = (96, 64, 10) if sizes.quick else (6000, 60_000, None)
    gate = _gate(fitted, epochs, device)
    pictures = np.ascontiguousarray(images(asked).numpy()[:, 0])
    asks = {effort: at_effort(gate, effort) for effort in EFFORTS}
    times = alternate(
        [lambda own=own: own.decide(pictures) for own in asks.values()],  # type: ignore[misc]
        device,
        rounds=sizes.rounds,
    )
    rates = {effort: asked / median(own) for effort, own in zip(asks, times, strict=True)}
    return {
        "settings": {"fitted": fitted, "asked": asked, "rounds": sizes.rounds},
        "cores": cores(),
        "seconds": {effort: _seconds(own, pictures, device) for effort, own in asks.items()},
        "compiler": None if device.type == "cpu" else _compiler(sizes, device),
        "comparisons": [
            more(
                f"pictures from the host's memory to verdicts, {effort}", rate, GOAL, "goal", "1/s"
            ).to_dict()
            for effort, rate in rates.items()
        ],
    }


def _gate(fitted: int, epochs: int | None, device: torch.device) -> BayesianVAE:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few calibration inputs, in a quick run
        gate = BayesianVAE(epochs=epochs, random_state=0, device=device.type)
        return gate.fit(images(fitted).numpy()[:, 0])


def _seconds(gate: BayesianVAE, pictures: NDArray[np.uint8], device: torch.device) -> dict[str, float]:
    """Where the time goes: into what draws tell, what pictures tell without a model, and the score."""
    asked, array = gate.asked_, pictures[..., None]
    wanted = asked.score.requires
    without = [name for name in wanted if name in gate.preprocessor_.statistic_names]
    of_draws = [name for name in wanted if name not in without]
    measured = measure(asked, array, wanted, device=device)
    return {
        "draws": seconds(lambda: measure(asked, array, of_draws, device=device), device),
        "without a model": seconds(lambda: measure(asked, array, without, device=device), device),
        "score": seconds(lambda: scores_of_measured(asked.score, measured), device),
    }


def _compiler(sizes: Sizes, device: torch.device) -> dict[str, float]:
    """Seconds until compiled code has scored its first tile, and decodings a second with and without it."""
    # So many that what surrounds a matrix, as reading the network anew, is nothing beside it.
    vae, data = conv_vae(), images(sizes.training_images).to(device)
    draws = random_draws(vae, sizes.base_draws)

    def work(make: Any) -> None:
        log_likelihoods(vae, draws, data, samples=SAMPLES, device=device, scorer=make)

    warm_up = seconds(lambda: work(compiled_scorer), device)
    plain, compiled = (
        sizes.base_draws * len(data) * SAMPLES / median(own)
        for own in alternate([lambda: work(tile_scorer), lambda: work(compiled_scorer)], device, rounds=3)
    )
    saved = 1 / plain - 1 / compiled
    pays = warm_up / saved if saved > 0 else math.inf
    return {"warm_up_seconds": warm_up, "plain": plain, "compiled": compiled, "pays_from_decodings": pays}
