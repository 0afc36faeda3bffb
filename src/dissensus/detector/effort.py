"""How much is spent on an input: operating points of one fit, each with its own score and calibration."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from dissensus.defaults import FAST, STANDARD, THOROUGH
from dissensus.errors import ArtifactError, SettingsError
from dissensus.models import GenerativeModel
from dissensus.posterior import WeightDraws
from dissensus.scores import Fused

__all__ = [
    "EFFORTS",
    "WHOLE",
    "Effort",
    "at_effort",
    "check_effort",
    "effort_draws",
    "effort_from_config",
    "efforts_for",
]

Gate = TypeVar("Gate")

NUMBERS = {"draws": 1, "chains": 1, "samples": 0}
"""Of an effort, and the least that each may be."""
MOST = 1 << 16


@dataclass(frozen=True)
class Effort:
    """Which of a fit's draws are asked, and what."""

    name: str
    draws: int | None = None
    """At most so many of the draws, M; None: all."""
    chains: int | None = None
    """Of at most so many chains, the first; None: of all."""
    samples: int | None = None
    """K. None is the fit's own number, and 0 that log p is what one look at the mean of q(z|x) tells."""
    leaves_out: frozenset[str] = frozenset({"predicted-length"})
    """Statistics of inputs that are not measured."""

    @property
    def looks(self) -> bool:
        """Whether log-likelihoods and statistics come from the same decodings, one a draw."""
        return self.samples == 0

    def config(self) -> dict[str, Any]:
        """JSON values: a gate is asked as it was calibrated, whatever a later version makes of the name."""
        numbers = {name: getattr(self, name) for name in NUMBERS}
        return numbers | {"leaves_out": sorted(self.leaves_out)}


WHOLE = Effort(THOROUGH)
"""Everything there is. Whatever has no other effort is measured like this."""

EFFORTS: Mapping[str, Effort] = MappingProxyType(
    {
        effort.name: effort
        for effort in (
            Effort(FAST, draws=4, samples=0, leaves_out=frozenset({"code-length"})),
            Effort(STANDARD, draws=8, samples=0, leaves_out=frozenset({"code-length"})),
            WHOLE,
        )
    }
)
"""By name, the cheapest first."""


def check_effort(name: object) -> None:
    """Refuses what is no effort."""
    if not isinstance(name, str) or name not in EFFORTS:
        raise SettingsError(f"effort must be one of {', '.join(EFFORTS)}, got {name!r}")


def at_effort(gate: Gate, effort: str) -> Gate:
    """The same detector, asked with an effort; what it has learnt is shared."""
    check_effort(effort)
    own = copy.copy(gate)
    own.effort = effort  # type: ignore[attr-defined]  # every detector has one
    return own


def efforts_for(model: GenerativeModel, statistic: object) -> tuple[Effort, ...]:
    """The efforts, beside the whole, that a fit of this model has.

    There are some for pictures and the fused score, asked for by name. The paper's scores need many draws and
    samples, and an exact log p of a few draws costs little as it is.
    """
    if not (statistic == Fused.name and model.observes_likelihood and model.reads_pictures):
        return ()
    return tuple(effort for effort in EFFORTS.values() if effort is not WHOLE)


def effort_draws(effort: Effort, draws: WeightDraws) -> WeightDraws:
    """The draws that are asked: as many of each chain, evenly spaced, and of each its last."""
    limits = [limit for limit in (effort.chains, effort.draws) if limit is not None]
    chains = np.unique(draws.chain)[: min(limits, default=None)]
    if effort.draws is None:
        return draws.select(np.flatnonzero(np.isin(draws.chain, chains)))
    each = effort.draws // len(chains)
    chosen = []
    for chain in chains:
        own = np.flatnonzero(draws.chain == chain)
        count = min(each, len(own))
        chosen.append(own[len(own) * np.arange(1, count + 1) // count - 1])
    return draws.select(np.sort(np.concatenate(chosen)))


def effort_from_config(name: str, config: Any) -> Effort:
    """The inverse of :meth:`Effort.config`; what no fit could have left is an ArtifactError."""
    sound = isinstance(config, Mapping) and set(config) == {*NUMBERS, "leaves_out"}
    for number, least in NUMBERS.items() if sound else ():
        value = config[number]
        sound = sound and (value is None or (type(value) is int and least <= value <= MOST))
    left_out = config["leaves_out"] if sound else None
    if not isinstance(left_out, list) or not all(isinstance(each, str) for each in left_out):
        raise ArtifactError(f"its effort {name} is not one that a fit makes: save the gate again")
    return Effort(name, **{number: config[number] for number in NUMBERS}, leaves_out=frozenset(left_out))
