"""When a chain has run away: numbers that are not finite, or weights far worse than those it started from."""

from __future__ import annotations

import torch
from torch import Tensor

from dissensus.errors import DivergenceError
from dissensus.posterior.chain import Chain
from dissensus.posterior.diagnostics import EpochReport

__all__ = ["divergence_error", "what_diverged"]

RUNAWAY = 2.0  # how much worse than at its start, and than thermal motion explains, a chain may become


def what_diverged(chain: Chain, epoch: int, steps: Tensor, start: float) -> str | None:
    """What went wrong in an epoch of a chain, to follow "chain 3"; ``None`` if nothing did.

    ``steps`` are the mean objectives of its steps, ``start`` is its noiseless objective before the first.
    """
    bad = ~torch.isfinite(steps)
    broken = not all(bool(torch.isfinite(part.weights).all()) for part in chain.parts.values())
    if bool(bad.any()) or broken:
        step = int(bad.nonzero()[0]) + 1 if bool(bad.any()) else len(steps)
        return f"became non-finite at step {step} of epoch {epoch}"
    # Finite but absurd is divergence too. Weights may fit worse than those they started from: thermal motion
    # costs half a nat each, P/(2N) an input. RUNAWAY times that and the objective at the start is more.
    weights = sum(part.weights.numel() for part in chain.parts.values())
    now = chain.noiseless_objective()
    if not now >= start - RUNAWAY * (max(abs(start), 1.0) + weights / (2 * chain.size)):
        return (
            f"runs away: its loss is {-now:.4g} after {chain.steps_per_epoch} steps of epoch "
            f"{epoch}, from {-start:.4g} at its start"
        )
    return None


def divergence_error(chain: Chain, what: str, last: EpochReport | None) -> DivergenceError:
    """The error that says what a chain did, with which step sizes, and how it was before."""
    rates = ", ".join(f"{name} {part.rule.step_size:g}" for name, part in chain.parts.items())
    state = "there is no finite epoch before it"
    if last is not None:
        state = f"last finite diagnostics, epoch {last.epoch}: objective {last.training_elbo:.5g}" + "".join(
            f", {name} kinetic temperature {h.kinetic_temperature:.3g}, κ median {h.kappa_50:.3g}, "
            f"clamped {h.clamped_share:.0%}"
            for name, h in last.health.items()
        )
    return DivergenceError(
        f"chain {chain.index} {what} (step sizes: {rates}; {state}): lower the step size or adapt for longer"
    )
