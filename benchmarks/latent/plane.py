"""A latent space of two dimensions, all of which can be seen: where draws disagree, and where a search goes.

A search wants pictures with as much ink as it can find, each by itself among points of a box; it knows
nothing of clothes. What it proposes is judged by the gate as any other input.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from dissensus import BayesianVAE
from dissensus.inputs import load_sample
from dissensus.latent import LatentSpace
from dissensus.posterior import SGHMC, SamplingSettings
from dissensus.seeding import torch_stream

__all__ = ["Plane", "PlaneSizes", "measure_plane"]


@dataclass(frozen=True)
class PlaneSizes:
    """How much is trained and looked at."""

    training: int = 3000
    epochs: int = 20
    chains: int = 4
    grid: int = 61
    """Points along each side of the picture."""
    reach: float = 6.0
    """Of the picture, and of the searches."""
    searches: int = 8
    points: int = 250
    """Of each search."""
    false_alarms: float = 0.05


class Plane(NamedTuple):
    """A row for each way to search, and what the figures show."""

    rows: list[dict[str, Any]]
    about: dict[str, Any]


def measure_plane(sizes: PlaneSizes, *, seed: int, device: str) -> Plane:
    """Fit a gate of two latents on the sample of Fashion-MNIST, and search it with the limit and without."""
    gate = _fitted(sizes, seed, device)
    space = gate.latent
    assert space.codes is not None
    limit = space.limit(sizes.false_alarms)
    side = torch.linspace(-sizes.reach, sizes.reach, sizes.grid)
    proposals = {"plain": _search(space, None, sizes, seed), "gate": _search(space, limit, sizes, seed)}
    pictures = {arm: _pictures(space, z) for arm, z in proposals.items()}
    rows = [
        {
            "arm": arm,
            "ink": float(pictures[arm].mean() / 255),
            "within the limit": float((space.disagreement(z) <= limit).double().mean()),
            "flagged": float((gate.predict(pictures[arm]) == -1).mean()),
        }
        for arm, z in proposals.items()
    ]
    about = {
        "space": space.words,
        "limit": limit,
        "disagreement": space.disagreement(torch.cartesian_prod(side, side)).tolist(),
        "codes": space.codes.means[:1000].tolist(),
        "proposals": {arm: z.tolist() for arm, z in proposals.items()},
        "pictures": {arm: found[..., 0].tolist() for arm, found in pictures.items()},
    }
    return Plane(rows, about)


def _fitted(sizes: PlaneSizes, seed: int, device: str) -> BayesianVAE:
    """Chains that share an encoder, so that a point means the same to all of them."""
    posterior = SamplingSettings.variant_1(
        SGHMC(),
        epochs=sizes.epochs,
        burn_in=sizes.epochs - 1,
        chains=sizes.chains,
        shared_inference=True,
    )
    gate = BayesianVAE(
        latent_size=2,
        posterior=posterior,
        chains=sizes.chains,
        draws=2 * sizes.chains,
        effort="thorough",
        false_alarm_rate=sizes.false_alarms,
        device=device,
        random_state=seed,
    )
    return gate.fit(load_sample()[0].images[: sizes.training])


def _search(space: LatentSpace, limit: float | None, sizes: PlaneSizes, seed: int) -> Tensor:
    """What each search (S, 2) finds best among its points of the box, those beyond the limit left out."""
    found = []
    for number in range(sizes.searches):
        generator = torch_stream(seed, "plane", number)
        z = sizes.reach * (2 * torch.rand(sizes.points, 2, generator=generator) - 1)
        if limit is not None:
            z = z[space.disagreement(z) <= limit]
        if len(z):
            ink = space.decode(z).flatten(1).mean(dim=1)
            found.append(z[ink.argmax()])
    return torch.stack(found)


def _pictures(space: LatentSpace, z: Tensor) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """What points decode to (n, H, W, 1), in 0..255."""
    values: Tensor = space.decode(z)
    return (255 * values).round().to(torch.uint8).numpy()
