"""Search in a latent space by BoTorch, kept to where the draws agree: a penalty, a constraint and a filter.

Inside ``limit`` all three leave the search alone; ``space.limit(0.05)`` is what 95% of the codes of inputs
like the training data keep to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from dissensus.errors import SettingsError
from dissensus.latent import LatentSpace
from dissensus.seeding import torch_stream

try:
    from botorch.acquisition import AcquisitionFunction
    from botorch.acquisition.penalized import PenalizedAcquisitionFunction
except ImportError as error:
    raise ImportError("this adapter needs BoTorch: pip install 'dissensus[latent]'") from error

__all__ = ["DisagreementPenalty", "constraint", "feasible_starts", "keep", "penalized"]

TOLERATED = 1e-3  # of the limit
CANDIDATES, MOST_TRIES = 256, 40  # starts are chosen among so many points at once, at most so often


class DisagreementPenalty(nn.Module):
    """How far the disagreement of points (b, q, Z) exceeds the limit, in its units: the most of q, (b,)."""

    def __init__(self, space: LatentSpace, limit: float) -> None:
        super().__init__()
        self.space, self.limit = space, _checked(limit)

    def forward(self, X: Tensor) -> Tensor:
        """Zero where the draws agree; differentiable."""
        excess = (self.space.disagreement(X) - self.limit).clamp(min=0) / self.limit
        return excess.amax(dim=-1)


def penalized(
    acquisition: AcquisitionFunction, space: LatentSpace, limit: float, *, strength: float = 10.0
) -> PenalizedAcquisitionFunction:
    """The acquisition function less ``strength`` times what :class:`DisagreementPenalty` says."""
    return PenalizedAcquisitionFunction(acquisition, DisagreementPenalty(space, limit), strength)


def constraint(space: LatentSpace, limit: float) -> tuple[Any, bool]:
    """An entry of ``nonlinear_inequality_constraints`` of ``optimize_acqf``: disagreement below the limit.

    Beside it ``optimize_acqf`` wants starts that keep to it: ``batch_initial_conditions=feasible_starts(…)``.
    """
    limit = _checked(limit)

    def margin(x: Tensor) -> Tensor:
        found: Tensor = 1 - space.disagreement(x) / limit
        # The optimiser ends on the limit to six digits, and would be refused for the seventh.
        nearly = (found < 0) & (found > -TOLERATED)
        return found - torch.where(nearly, found, torch.zeros_like(found)).detach()

    return margin, True


def feasible_starts(
    space: LatentSpace,
    limit: float,
    bounds: Tensor,
    *,
    restarts: int,
    q: int = 1,
    acquisition: AcquisitionFunction | None = None,
    seed: int = 0,
) -> Tensor:
    """Starts (restarts, q, Z) within ``bounds`` (2, Z) whose disagreement is below the limit.

    They are held-out codes, of which nearly all keep to ``limit(0.05)``, and points of the prior; with
    ``acquisition`` the best of many.
    """
    limit, wanted = _checked(limit), restarts * q * (8 if acquisition is not None else 1)
    kept: list[Tensor] = []
    for z in _candidates(space, max(CANDIDATES, wanted), seed):
        inside = z.to(bounds)
        inside = inside[((inside >= bounds[0]) & (inside <= bounds[1])).all(dim=1)]
        kept.append(keep(space, inside, limit))
        if sum(map(len, kept)) >= wanted:
            break
    found = torch.cat(kept)
    if len(found) < restarts * q:
        raise SettingsError(
            f"only {len(found)} codes and points of the prior within the bounds have a disagreement below "
            f"{limit:g}, and {restarts * q} were wanted: allow more, as limit(0.05) does, or widen the bounds"
        )
    if acquisition is not None:
        with torch.no_grad():
            found = found[acquisition(found[:, None]).argsort(descending=True)]
    return found[: restarts * q].reshape(restarts, q, space.size)


def _candidates(space: LatentSpace, count: int, seed: int) -> Iterator[Tensor]:
    """Points (n, Z): ever more of the prior, the first with as many codes beside them."""
    for attempt in range(MOST_TRIES):
        z = space.sample(count, seed=seed + attempt)
        if attempt == 0 and space.codes is not None:
            codes = torch.from_numpy(space.codes.held_out)
            chosen = torch.randperm(len(codes), generator=torch_stream(seed, "feasible starts"))[:count]
            z = torch.cat([codes[chosen], z])
        yield z


def keep(space: LatentSpace, z: Tensor, limit: float) -> Tensor:
    """Those of points (n, Z) whose disagreement is below the limit."""
    with torch.no_grad():
        return z[space.disagreement(z) < _checked(limit)]


def _checked(limit: float) -> float:
    if not 0 < limit < float("inf"):
        raise SettingsError(f"limit={limit}: give a positive disagreement, such as space.limit(0.05)")
    return float(limit)
