"""Part (j): what it costs that an input gets the same bits alone and in company, on a CPU.

Inputs are worked on in tiles of one shape, and a tile that is not full is padded; where a network rounds a
row by its place in the tile, inputs go one a call. Both are timed for many inputs and for one alone, in turn:
an input that goes one a call is worked on without padding.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from benchmarks.speed.comparison import faster, more
from benchmarks.speed.sizes import Sizes
from benchmarks.speed.subject import default_vae, images, random_draws
from benchmarks.speed.timing import alternate, median
from dissensus.likelihood import input_statistics, keeps_bits, log_likelihoods
from dissensus.models import VAE, build_vae
from dissensus.posterior import WeightDraws
from dissensus.seeding import torch_stream

__all__ = ["measure_same_bits"]

COLUMNS = 16
MANY, ALONE = 3, 24  # times the usual rounds: differences are small beside what a busy machine does


def measure_same_bits(sizes: Sizes, device: torch.device) -> dict[str, Any]:
    """Seconds of the matrix and the statistics, in tiles and one a call, of rows and of pictures."""
    rows = torch.randn(4 * sizes.scored_images, COLUMNS, generator=torch_stream(0, "same bits"))
    row_vae = build_vae((COLUMNS,), observation="gaussian", generator=torch_stream(0, "same bits", "weights"))
    subjects = {
        "row": (row_vae, rows),
        "picture": (default_vae(), images(sizes.scored_images)),
    }
    measured, comparisons = [], []
    for name, (vae, inputs) in subjects.items():
        draws, samples = random_draws(vae, sizes.base_draws), sizes.base_samples
        many = _seconds(vae, draws, inputs, samples, device, rounds=MANY * sizes.rounds)
        alone = _seconds(vae, draws, inputs[:1], samples, device, rounds=ALONE * sizes.rounds)
        measured.append(
            {
                "input": name,
                "shape": list(vae.input_shape),
                "inputs": len(inputs),
                "tile": vae.tile(device, samples),
                "tile_of_statistics": vae.observed_tile(device),
                "keeps_bits": keeps_bits(vae, draws, inputs, samples=samples, device=device),
                "seconds": {"many": many, "alone": alone},
                "one_a_call_over_tiles": many["one a call"] / many["tiles"],
                "padded_over_unpadded": alone["tiles"] / alone["one a call"],
            }
        )
        in_tiles, one_by_one = (len(inputs) / many[how] for how in ("tiles", "one a call"))
        comparisons += [
            more(f"{name}s scored in tiles", in_tiles, one_by_one, "one input a call", "inputs/s"),
            faster(
                f"one {name} alone, in a padded tile",
                1e3 * alone["tiles"],
                1e3 * alone["one a call"],
                "without padding",
                "ms",
            ),
        ]
    return {
        "settings": {
            "draws": sizes.base_draws,
            "samples": sizes.base_samples,
            "rounds": {"many": MANY * sizes.rounds, "alone": ALONE * sizes.rounds},
        },
        "measured": measured,
        "comparisons": [one.to_dict() for one in comparisons],
    }


def _seconds(
    vae: VAE, draws: WeightDraws, inputs: Tensor, samples: int, device: torch.device, *, rounds: int
) -> dict[str, float]:
    """The median time of both ways, measured in turn."""

    def score(one_a_call: bool) -> None:
        log_likelihoods(vae, draws, inputs, samples=samples, device=device, one_a_call=one_a_call)
        input_statistics(vae, draws, inputs, device=device, one_a_call=one_a_call)

    times = alternate([lambda: score(False), lambda: score(True)], device, rounds=rounds)
    return {how: median(own) for how, own in zip(("tiles", "one a call"), times, strict=True)}
