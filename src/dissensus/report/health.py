"""The sampler's health in plain words, from the numbers of ``Diagnostics.health``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["describe_health", "verdict_in_words"]

WORTH_A_WORD = 0.005  # a smaller share of the weights is not spoken of


def describe_health(health: Mapping[str, Any], noise_floor: float, *, warned: bool = False) -> list[str]:
    """Sentences for a person who has not read the paper: the verdict first, then what it rests on.

    What is wrong is left out for those who have been ``warned`` of it already.
    """
    verdict = health["verdict"]
    sentences = [] if warned else verdict_in_words(verdict)
    if verdict["judged"] and verdict["sound"]:
        sentences.append(
            "The chains sample as they should: none of their temperatures is off by a factor of two."
        )
    sentences += verdict["remarks"]
    if not health["networks"]:
        sentences.append("The weights were fitted, not sampled: there is no sampler to judge.")
    elif health["rhat"] is None:
        sentences.append("chains: there is one alone, or too few draws of each, to compare them.")
    sentences += [_network(name, numbers) for name, numbers in health["networks"].items()]
    sentences += [f"{restart}." for restart in health["restarts"]]
    if noise_floor > 0:  # an exact log-likelihood has none
        sentences.append(
            f"noise floor: estimating a log-likelihood twice moves it by {noise_floor:.2g} nats."
        )
    return sentences


def verdict_in_words(verdict: Mapping[str, Any]) -> list[str]:
    """What is wrong, and what to do about it; nothing if nothing is."""
    return [" ".join([*verdict["problems"], verdict["remedy"]])] if verdict["problems"] else []


def _network(name: str, numbers: Mapping[str, Any]) -> str:
    kinetic = numbers["kinetic_temperature"] / numbers["right_temperature"]
    bins = [_bin(each) for each in numbers["by_kappa"] if each["share"] >= WORTH_A_WORD]
    clamped = numbers["clamped_share"]
    noise = (
        "noise is injected everywhere"
        if clamped < WORTH_A_WORD
        else f"in {clamped:.0%} of the weights the minibatch alone brings more noise than it may"
    )
    return (
        f"{name}: configurational temperature {numbers['configurational_temperature']:.2f}, kinetic "
        f"{kinetic:.2f} (right is 1, for both): {', '.join(bins)}; {noise}."
    )


def _bin(found: Mapping[str, Any]) -> str:
    """As in ``0.98 in the 31% of the weights with κ of 0.1 to 0.5``."""
    low, high = found["from"], found["to"]
    where = f"above {low:g}" if high is None else f"below {high:g}" if low == 0 else f"of {low:g} to {high:g}"
    return f"{found['heat']:.2f} in the {found['share']:.0%} of the weights with κ {where}"
