"""Bayesian optimisation in the latent space, with and without the gate (after Tripp et al. 2020).

A Gaussian process of the distance, log expected improvement, and 50 proposals a round: the local maxima that
a search from as many starts ends in. With the gate, starts and proposals keep to where the draws disagree by
at most three times what 95% of held-out codes keep to, and the acquisition function is penalised beyond. That
was chosen on trial fits (seeds 100 and 101): of the points it keeps, of the prior, between codes and near
them, 99 in 100 decode to expressions.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.latent.languages import Language
from dissensus import Detector
from dissensus.latent import LatentSpace
from dissensus.seeding import numpy_stream, torch_stream
from dissensus.torch_threads import torch_threads

__all__ = ["SearchSizes", "search"]

WORST = 12.0  # what is further away is no worse


@dataclass(frozen=True)
class SearchSizes:
    """How long is searched."""

    rounds: int = 10
    """Each of which evaluates all that is proposed; up to four times as many where much was seen before."""
    proposals: int = 50
    """A round."""
    known: int = 300
    """Training texts whose distance is known beforehand, half of them the best."""
    bound: float = 4.0
    """Of each coordinate."""
    candidates: int = 800
    """Among which starts are chosen."""
    steps: int = 10
    """Of a local search."""
    tries: int = 5
    """How often a step is shortened: where values jump, as between texts, more would be in vain."""
    allowed: float = 0.05
    """The share of held-out codes above the limit that is slackened."""
    slack: float = 3.0
    """What the gate allows, as a multiple of that limit."""
    strength: float = 10.0


@dataclass
class _Found:
    """What was evaluated: points, distances, texts."""

    z: Tensor
    distances: list[float]
    seen: set[str]
    valid: list[bool] = field(default_factory=list)
    best: list[float] = field(default_factory=list)
    refused: int = 0


def search(
    gate: Detector,
    language: Language,
    texts: Sequence[str],
    sizes: SearchSizes,
    *,
    gated: bool,
    seed: int,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """A row: the best distance among valid proposals after each round, and the share that is valid."""
    assert language.distance is not None
    space = gate.latent
    limit = sizes.slack * space.limit(sizes.allowed) if gated else math.inf
    found = _known(space, language, texts, sizes, seed)
    start = min(found.distances)
    while len(found.valid) < sizes.rounds * sizes.proposals:
        turn = len(found.best)
        say(f"{'gate' if gated else 'plain'}: round {turn + 1}, {len(found.valid)} evaluated")
        generator = torch_stream(seed, "search", turn)
        with torch_threads(1):  # matrices are small
            proposals = _proposals(space, found, sizes, limit, generator)
        texts_there = space.decode(proposals) if len(proposals) else []
        for z, text in zip(proposals, texts_there, strict=True):
            if text in found.seen or len(found.valid) == sizes.rounds * sizes.proposals:
                continue
            found.seen.add(text)
            value = language.distance(text)
            found.valid.append(language.valid(text))
            found.z = torch.cat([found.z, z[None]])
            found.distances.append(value)
        own = found.distances[len(found.distances) - len(found.valid) :]
        found.best.append(min(own, default=math.inf))
        if turn >= 4 * sizes.rounds:  # nearly all that is proposed was seen before
            break
    own = found.distances[len(found.distances) - len(found.valid) :]
    return {
        "arm": "gate" if gated else "plain",
        "evaluated": len(own),
        "known best": start,
        "best": _finite(min(own, default=math.inf)),
        "tenth": _finite(sorted(own)[9]) if len(own) > 9 else None,
        "valid": float(np.mean(found.valid)) if own else None,
        "rounds": len(found.best),
        "limit": limit if gated else None,
    }


def _known(
    space: LatentSpace, language: Language, texts: Sequence[str], sizes: SearchSizes, seed: int
) -> _Found:
    """Training texts with their distances: the best of a choice, and some by chance."""
    assert language.distance is not None
    order = numpy_stream(seed, "search", "known").permutation(len(texts))[: 10 * sizes.known]
    distances = np.array([language.distance(texts[place]) for place in order])
    best = np.argsort(distances, kind="stable")[: sizes.known // 2]
    rest = np.setdiff1d(np.arange(len(order)), best)[: sizes.known - len(best)]
    chosen = [texts[order[place]] for place in (*best, *rest)]
    return _Found(space.encode(chosen), [float(distances[place]) for place in (*best, *rest)], set(chosen))


def _proposals(
    space: LatentSpace, found: _Found, sizes: SearchSizes, limit: float, generator: torch.Generator
) -> Tensor:
    """Where the searches from the best starts end, (n, Z), without those that the gate refuses."""
    from botorch.acquisition import LogExpectedImprovement
    from botorch.generation import gen_candidates_scipy
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Normalize

    from dissensus.integrations.botorch import keep, penalized

    z, y = _training_set(found, sizes)
    bound = torch.full((space.size,), sizes.bound, dtype=torch.float64)
    box = torch.stack([-bound, bound])
    process = SingleTaskGP(z, y, input_transform=Normalize(space.size, bounds=box))
    _fit(process)
    improvement = LogExpectedImprovement(process, best_f=y.max())
    near = z[torch.randint(len(z), (sizes.candidates // 2,), generator=generator)]
    reach = 0.5 * torch.rand(len(near), 1, generator=generator, dtype=torch.float64)
    near = near + reach * torch.randn(near.shape, generator=generator, dtype=torch.float64)
    far = torch.randn(sizes.candidates - len(near), space.size, generator=generator, dtype=torch.float64)
    candidates = torch.cat([near, far]).clamp(-sizes.bound, sizes.bound)
    if math.isfinite(limit):
        candidates = keep(space, candidates, limit)
        if not len(candidates):
            return candidates.float()
    with torch.no_grad():
        order = improvement(candidates[:, None]).argsort(descending=True)
    starts = candidates[order[: sizes.proposals]][:, None]
    asked = improvement
    if math.isfinite(limit):
        asked = penalized(improvement, space, limit, strength=sizes.strength)
    with warnings.catch_warnings(record=True):  # of steps that end where values jump, which it insists on
        ends, _ = gen_candidates_scipy(
            starts,
            asked,
            lower_bounds=-bound,
            upper_bounds=bound,
            options={"maxiter": sizes.steps, "maxls": sizes.tries},
        )
    ends = ends.detach()[:, 0]
    if math.isfinite(limit):
        ends = torch.cat([keep(space, ends, limit), starts[:, 0]])[: sizes.proposals]
    found_there: Tensor = ends.float()
    return found_there


def _training_set(found: _Found, sizes: SearchSizes) -> tuple[Tensor, Tensor]:
    """The best points known, and the latest; what has no value is as bad as the worst."""
    distances = torch.tensor(found.distances, dtype=torch.float64).clamp(max=WORST)
    best = distances.argsort()[: sizes.known // 2].tolist()
    latest = range(max(0, len(distances) - sizes.known // 2), len(distances))
    z = found.z.double().clamp(-sizes.bound, sizes.bound)
    chosen = torch.tensor(sorted({*best, *latest, *range(0, sizes.known, 4)}))
    y = -distances[chosen]
    return z[chosen], ((y - y.mean()) / y.std())[:, None]


def _fit(process: Any) -> None:
    from botorch import fit_gpytorch_mll
    from gpytorch.mlls import ExactMarginalLogLikelihood

    fit_gpytorch_mll(
        ExactMarginalLogLikelihood(process.likelihood, process),
        optimizer_kwargs={"options": {"maxiter": 40}},
    )


def _finite(value: float) -> float | None:
    """None for an infinite distance, which no record can hold."""
    return value if math.isfinite(value) else None
