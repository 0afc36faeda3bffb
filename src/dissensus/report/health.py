"""The sampler's health in plain words, from the numbers of ``Diagnostics.health``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["describe_health"]

TOLERANCE = 0.15  # how far a temperature may be off before it is worth a remark


def describe_health(health: Mapping[str, Any], noise_floor: float) -> list[str]:
    """Sentences for a person who has not read the paper."""
    sentences = [_network(name, numbers) for name, numbers in health["networks"].items()]
    rhat = health["rhat"]
    if rhat is None:
        sentences.append("chains: there is one alone, or too few draws of each, to compare them.")
    elif rhat < health["merged_below"]:
        sentences.append(f"chains: they cannot be told apart (R̂ {rhat:.2f}).")
    else:
        sentences.append(
            f"chains: they have not merged (R̂ {rhat:.2f}, merged below {health['merged_below']}), as is "
            "usual for networks; each adds a view of its own."
        )
    sentences += [f"{restart}." for restart in health["restarts"]]
    sentences.append(f"noise floor: estimating a log-likelihood twice moves it by {noise_floor:.2g} nats.")
    return sentences


def _network(name: str, numbers: Mapping[str, float]) -> str:
    kinetic, configurational = numbers["kinetic_temperature"], numbers["configurational_temperature"]
    clamped, kappa = numbers["clamped_share"], numbers["kappa_50"]
    right = numbers["right_temperature"]
    off = kinetic / right - 1
    if abs(off) <= TOLERANCE:
        verdict = "the sampler runs at the right temperature"
    else:
        verdict = f"the sampler runs {'hot' if off > 0 else 'cold'}"
    noise = (
        "it injects noise everywhere"
        if clamped < 0.005
        else f"in {clamped:.0%} of the weights the minibatch alone brings more noise than it may"
    )
    return (
        f"{name}: {verdict} (kinetic {kinetic:.2f}, right is {right:.2f}; configurational "
        f"{configurational:.2f}, right is 1); {noise} (κ median {kappa:.2g})."
    )
