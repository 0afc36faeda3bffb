"""The paper's six methods: matrices in, one score an input out, higher = more out-of-distribution."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from benchmarks.archive import Archive
from benchmarks.paper.presets import RunName
from benchmarks.runner import Results
from dissensus.errors import SettingsError
from dissensus.scores import (
    Measured,
    Typicality,
    effective_sample_size,
    ess_disagreement,
    mean_log_likelihood,
    score,
    waic,
)

__all__ = ["METHODS", "OTHER_SCORES", "Method", "find_methods", "other_scores"]


@dataclass(frozen=True)
class Method:
    """A row of the table."""

    name: str
    label: str
    runs: tuple[RunName, ...]
    """What it needs."""
    score: Callable[[Results], NDArray[np.float64]]
    """Scores (N,) of the test inputs."""


def _log_likelihood(results: Results) -> NDArray[np.float64]:
    """−log p(x|θ) of the first plain VAE."""
    return mean_log_likelihood(results["vaes"]["test"][:1])


def _likelihood_ratio(results: Results) -> NDArray[np.float64]:
    """−(log p(x|θ) − log p(x|θ₀)), θ₀ the background model (Ren et al. 2019)."""
    ratio: NDArray[np.float64] = results["background"]["test"][0] - results["vaes"]["test"][0]
    return ratio


def _typicality(results: Results) -> NDArray[np.float64]:
    """|log p(x|θ) − its mean over training inputs| (Nalisnick et al. 2019, one input at a time)."""
    vaes = results["vaes"]
    return Typicality().fit(vaes["typical"][:1])(vaes["test"][:1])


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        each.name: each
        for each in (
            Method("BVAE1", "BVAE₁", ("bvae1",), lambda results: ess_disagreement(results["bvae1"]["test"])),
            Method("BVAE2", "BVAE₂", ("bvae2",), lambda results: ess_disagreement(results["bvae2"]["test"])),
            Method("LL", "LL", ("vaes",), _log_likelihood),
            Method("LLR", "LLR", ("vaes", "background"), _likelihood_ratio),
            Method("TT", "TT", ("vaes",), _typicality),
            Method("WAIC", "WAIC", ("vaes",), lambda results: waic(results["vaes"]["test"])),
        )
    }
)
"""Every method by name, in the order of the paper's table."""

OTHER_SCORES = ("kl", "entropy", "std", "mean-ll")
"""Of :data:`dissensus.scores.SCORES`: measured beside ESS on the same matrix, for comparison."""


def find_methods(names: Sequence[str]) -> list[Method]:
    """The methods of these names, in upper or lower case; all of them where none is named.

    >>> [method.name for method in find_methods(["bvae2", "LL"])]
    ['BVAE2', 'LL']
    """
    for name in names:
        if name.upper() not in METHODS:
            raise SettingsError(f"there is no method {name!r}; choose one of {', '.join(METHODS)}")
    return [METHODS[name.upper()] for name in dict.fromkeys(names)] or list(METHODS.values())


def other_scores(result: Archive) -> dict[str, NDArray[np.float64]]:
    """Other scores of the same draws.

    ``ess-with-ties`` is the paper's ESS as float64 gives it: exactly 1 once a draw leads by 37 nats.
    """
    named = {name: score(name)(Measured(result["test"])) for name in OTHER_SCORES}
    return named | {"ess-with-ties": -effective_sample_size(result["test"])}
