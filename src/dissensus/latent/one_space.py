"""Draws that share one latent space: those with one encoder in common, or those of one chain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import SettingsError
from dissensus.models import LatentModel
from dissensus.posterior import WeightDraws

__all__ = ["SharedSpace", "check_one_space", "shared_space"]


class SharedSpace(NamedTuple):
    """Draws to which a point z means the same."""

    draws: NDArray[np.int64]
    """Their numbers, in order."""
    chain: int | None
    """Whose they are; None: all draws have one encoder in common."""
    words: str
    """The same as a sentence's part."""


def shared_space(model: LatentModel, draws: WeightDraws, chain: int | None = None) -> SharedSpace:
    """Return the draws of one latent space: of all that share an encoder, or of one chain.

    Every chain begins elsewhere and finds codes of its own: a point means something else to each. Where
    ``chain`` is not given it is the one that gives held-out inputs the highest likelihood, if that was
    measured, and else the first.
    """
    if chain is None and _one_encoder(model, draws):
        return _checked(np.arange(len(draws)), None, f"{len(draws)} draws that share one encoder")
    chains = np.unique(draws.chain).tolist()
    if chain is None:
        chain = _best_chain(draws, chains)
    elif chain not in chains:
        raise SettingsError(f"there is no chain {chain}: choose one of {', '.join(map(str, chains))}")
    own = np.flatnonzero(draws.chain == chain)
    words = f"{len(own)} draw{'s'[: len(own) != 1]} of chain {chain}"
    if len(chains) > 1:
        words += f" of {len(chains)}, for each chain has a latent space of its own"
    return _checked(own, chain, words)


def check_one_space(model: LatentModel, draws: WeightDraws) -> None:
    """Refuse draws of several chains, unless they have one encoder in common."""
    chains = np.unique(draws.chain).tolist()
    if len(chains) > 1 and not _one_encoder(model, draws):
        raise SettingsError(
            f"the draws are of chains {', '.join(map(str, chains))}, each of which has a latent space of its "
            "own: take draws.select(shared_space(model, draws).draws), those of one chain, or sample with "
            "shared_inference=True, which gives all chains one encoder"
        )


def _one_encoder(model: LatentModel, draws: WeightDraws) -> bool:
    return bool(model.inference) and len(list(draws.sharing(model.inference))) == 1


def _best_chain(draws: WeightDraws, chains: list[int]) -> int:
    last = {
        report.chain: report.held_out_log_likelihood
        for report in draws.diagnostics.reports
        if report.held_out_log_likelihood is not None
    }
    return max(chains, key=lambda chain: (last.get(chain, -np.inf), -chain))


def _checked(own: NDArray[np.int64], chain: int | None, words: str) -> SharedSpace:
    if len(own) < 2:
        raise SettingsError(
            f"a latent space needs several draws that share it, to see where they disagree, and there is "
            f"{words}: fit with a sampler and fewer chains, such as posterior='sghmc', chains=1, draws=10"
        )
    return SharedSpace(own, chain, words)
