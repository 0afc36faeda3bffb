"""The sampler's health: from its diagnostics to a few numbers, and from those to plain words."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

__all__ = ["chain_health", "describe_health"]

CORRECT_KINETIC = 1.0256  # 1/(1 − α/2) at the sampler's momentum decay α = 0.05
TOLERANCE = 0.15  # how far a temperature may be off before it is worth a remark
MERGED = 1.1  # R̂ below this: chains cannot be told apart (Gelman et al. 2013)


def chain_health(diagnostics: Mapping[str, Any]) -> dict[str, Any]:
    """Medians over chains at the last epoch, from ``Diagnostics.to_dict()``, of the networks sampled."""
    reports = diagnostics["reports"]
    last = [report for report in reports if report["epoch"] == max(r["epoch"] for r in reports)]
    networks = sorted({name for report in last for name in report["health"]})
    health: dict[str, Any] = {
        name: {
            number: statistics.median(report["health"][name][number] for report in last)
            for number in last[0]["health"][name]
        }
        for name in networks
    }
    rhat = list(diagnostics["rhat"].values())
    restarts = [restart["sentence"] for restart in diagnostics.get("restarts", ())]
    return {"networks": health, "rhat": rhat[-1] if rhat else None, "restarts": restarts}


def describe_health(health: Mapping[str, Any], noise_floor: float) -> list[str]:
    """Sentences for a person who has not read the paper."""
    sentences = [_network(name, numbers) for name, numbers in health["networks"].items()]
    rhat = health["rhat"]
    if rhat is None:
        sentences.append("chains: too few draws a chain to compare them (R̂ needs four).")
    elif rhat < MERGED:
        sentences.append(f"chains: they cannot be told apart (R̂ {rhat:.2f}).")
    else:
        sentences.append(
            f"chains: they have not merged (R̂ {rhat:.2f}, merged below {MERGED}), as is usual for networks; "
            "each adds a view of its own."
        )
    sentences += [f"{restart}." for restart in health["restarts"]]
    sentences.append(f"noise floor: estimating a log-likelihood twice moves it by {noise_floor:.2g} nats.")
    return sentences


def _network(name: str, numbers: Mapping[str, float]) -> str:
    kinetic, configurational = numbers["kinetic_temperature"], numbers["configurational_temperature"]
    clamped, kappa = numbers["clamped_share"], numbers["kappa_50"]
    off = kinetic / CORRECT_KINETIC - 1
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
        f"{name}: {verdict} (kinetic {kinetic:.2f}, right is {CORRECT_KINETIC:.2f}; configurational "
        f"{configurational:.2f}, right is 1); {noise} (κ median {kappa:.2g})."
    )
