"""Draws from a distribution that a chain has fitted, rather than from where it went.

They are a function of the chain's final state, its iterates and its seed, so a run that is read back from its
checkpoint gives the same draws.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from dissensus.posterior.chain import Chain
from dissensus.posterior.swag import SWAG, Moments, choose_scale
from dissensus.posterior.variational import Variational
from dissensus.seeding import torch_stream

__all__ = ["FittedDraws", "fitted_draws"]

TUNING_DRAWS = 8  # whose mean log-likelihood SWAG's scale is chosen by


@dataclass(frozen=True)
class FittedDraws:
    """Flat weights (P,) by network for each draw, and the scale that SWAG chose."""

    draws: list[dict[str, Tensor]]
    scale: float | None = None


def fitted_draws(
    chain: Chain, iterates: Sequence[Mapping[str, Tensor]], held_out: Tensor | None, noise: Tensor
) -> FittedDraws:
    """``settings.fitted_draws`` draws of one chain after its last epoch.

    ``iterates`` are the weights that were kept; ``held_out`` (n, *S) and ``noise`` (K, Z) are what SWAG's
    scale is tuned with.
    """
    rule, count = chain.settings.decoder, chain.settings.fitted_draws or 0
    sampled = [name for name, part in chain.parts.items() if part.rule.samples]
    if isinstance(rule, Variational):
        return FittedDraws([{name: _of_q(chain, name, m) for name in sampled} for m in range(count)])
    assert isinstance(rule, SWAG)
    # One Gaussian over both networks, so that a decoder is drawn with the encoder that goes with it.
    joint = torch.stack([torch.cat([iterate[name] for name in sampled]) for iterate in iterates])
    moments = Moments.of(joint, rule.rank)
    sizes = [chain.parts[name].weights.numel() for name in sampled]

    def draw(scale: float, purpose: str, number: int) -> dict[str, Tensor]:
        theta = moments.draw(scale, torch_stream(chain.seed, "chain", chain.index, purpose, number))
        return dict(zip(sampled, theta.split(sizes), strict=True))  # type: ignore[no-untyped-call]

    scale = rule.scale
    if scale is None:
        assert held_out is not None
        found = {
            s: _log_likelihood(chain, [draw(s, "tuning", j) for j in range(TUNING_DRAWS)], held_out, noise)
            for s in rule.scales
        }
        scale = choose_scale(found, tolerance=sum(sizes) / (2 * len(chain.data)))
    return FittedDraws([draw(scale, "draw", m) for m in range(count)], scale)


def _of_q(chain: Chain, network: str, number: int) -> Tensor:
    part = chain.parts[network]
    assert isinstance(part.rule, Variational)
    generator = torch_stream(chain.seed, "chain", chain.index, "draw", network, number)
    return part.rule.draw(part.state, part.weights, generator)


def _log_likelihood(
    chain: Chain, draws: Sequence[Mapping[str, Tensor]], held_out: Tensor, noise: Tensor
) -> float:
    """The mean over draws and held-out inputs of log p̂(x); the chain's own weights are put back."""
    own = {name: part.weights.clone() for name, part in chain.parts.items()}
    means = []
    try:
        for draw in draws:
            chain.load(draw)
            means.append(float(chain.held_out_log_likelihood(held_out, noise).mean()))
    finally:
        chain.load(own)
    return statistics.fmean(means)
