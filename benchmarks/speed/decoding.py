"""Part (b): decodings a second, by observation model, M, K and precision, beside the straightforward way."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import torch

from benchmarks.speed.comparison import more
from benchmarks.speed.scoring_paths import scoring_paths
from benchmarks.speed.sizes import Sizes
from benchmarks.speed.straightforward import score
from benchmarks.speed.subject import (
    conv_vae,
    copied_draws,
    images,
    plain_conv,
    random_draws,
    trained_draws,
)
from benchmarks.speed.timing import alternate, median
from dissensus.likelihood import log_likelihoods
from dissensus.likelihood.matrix import MakeScorer
from dissensus.models import VAE
from dissensus.models.inputs import unit_scale
from dissensus.models.observation import OBSERVATIONS
from dissensus.posterior import WeightDraws

__all__ = ["measure_decoding"]

BATCH = 256  # images at a time, the straightforward way
WIDE_SHARE = 16  # how much dearer a 256-way head is: so many fewer images show its rate as well


class Point(NamedTuple):
    """What a rate is of."""

    observation: str
    draws: int
    samples: int
    path: str


def measure_decoding(sizes: Sizes, device: torch.device) -> dict[str, Any]:
    """Rates in decodings a second: one axis at a time from a base point, and the comparison."""
    base = Point("bernoulli", sizes.base_draws, sizes.base_samples, "default")
    points = [base]
    points += [base._replace(observation=name) for name in OBSERVATIONS if name != base.observation]
    points += [base._replace(draws=draws) for draws in sizes.draws if draws != base.draws]
    points += [base._replace(samples=samples) for samples in sizes.samples if samples != base.samples]
    points += [base._replace(path=path) for path in scoring_paths(device) if path != base.path]
    return {
        "settings": {"images": sizes.scored_images, "rounds": sizes.rounds, "network": "convolutional"},
        "rates": [_rate(sizes, device, point) for point in points],
        "comparisons": _compared(sizes, device),
    }


def _rate(sizes: Sizes, device: torch.device, point: Point) -> dict[str, Any]:
    vae = conv_vae(point.observation)
    wide = vae.observation.parameters_per_dimension > 2
    weights = _draws(vae, point.draws, device)
    data = images(max(1, sizes.scored_images // (WIDE_SHARE if wide else 1))).to(device)
    scorer = scoring_paths(device)[point.path]

    def work() -> None:
        log_likelihoods(vae, weights, data, samples=point.samples, device=device, scorer=scorer)

    (times,) = alternate([work], device, rounds=sizes.rounds)
    return {
        **point._asdict(),
        "images": len(data),
        "decodings_per_second": point.draws * len(data) * point.samples / median(times),
    }


def _compared(sizes: Sizes, device: torch.device) -> list[dict[str, Any]]:
    """Ours and the straightforward way in turn, on the same weights and images."""
    vae, plain = conv_vae(), plain_conv()
    weights = _draws(vae, sizes.base_draws, device)
    copied = copied_draws(weights)
    data = images(sizes.scored_images)
    pixels = unit_scale(data)
    resident = data.to(device)
    paths = scoring_paths(device)
    named = {"": paths["default"]} | ({", compiled": paths["compiled"]} if "compiled" in paths else {})

    def ours(scorer: MakeScorer) -> None:
        log_likelihoods(vae, weights, resident, samples=sizes.base_samples, device=device, scorer=scorer)

    def other() -> None:
        score(
            plain,
            copied,
            pixels,
            samples=sizes.base_samples,
            batch_size=min(BATCH, len(data)),
            device=device,
            # A GPU wants large batches; on a CPU a batch a sample is faster, because it stays in the caches.
            repeat=device.type == "cuda",
        )

    works = [partial(ours, scorer) for scorer in named.values()]
    *own, theirs = alternate([*works, other], device, rounds=sizes.rounds)
    decodings = sizes.base_draws * len(data) * sizes.base_samples
    return [
        more(
            f"decodings a second, conv VAE, K = {sizes.base_samples}{name}",
            decodings / median(times),
            decodings / median(theirs),
            "straightforward PyTorch",
            "decodings/s",
        ).to_dict()
        for name, times in zip(named, own, strict=True)
    ]


def _draws(vae: VAE, draws: int, device: torch.device) -> WeightDraws:
    """On a CPU any weights cost the same, on a GPU only those that bear half precision are scored in it."""
    return (
        random_draws(vae, draws)
        if device.type == "cpu"
        else trained_draws(vae.observation.name, draws, device)
    )
