"""How far chains agree, and chains of several runs as those of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dissensus.posterior.convergence import LEAST, LEAST_FOR_SIZE, bulk_size, rhat
from dissensus.posterior.diagnostics import Diagnostics
from dissensus.posterior.draws import Watched, WeightDraws, join_draws

__all__ = ["as_one_run", "median_rhat", "median_size"]


def median_rhat(watched: Watched, chains: Sequence[int], epoch: int) -> float | None:
    """R̂ of the held-out log-likelihoods up to a kept epoch; ``None`` if they are too few to compare."""
    series = _series(watched, chains, epoch)
    return None if series is None else float(np.median(rhat(series)))


def median_size(watched: Watched, chains: Sequence[int], epoch: int) -> float | None:
    """The effective sample size of the same; ``None`` if they are too few."""
    series = _series(watched, chains, epoch)
    enough = series is not None and series.shape[1] >= LEAST_FOR_SIZE
    return float(np.median(bulk_size(series))) if enough and series is not None else None


def as_one_run(runs: Sequence[WeightDraws]) -> WeightDraws:
    """The draws of several runs as one run of all their chains would have given them, to the bit.

    Unlike :func:`join_draws` it puts the chains in order and compares them, where all runs were watched by
    the same held-out inputs.
    """
    plain = [replace(run, diagnostics=Diagnostics()) for run in runs]
    alone = {
        chain: run.select(np.flatnonzero(run.chain == chain))
        for run in plain
        for chain in sorted(set(run.chain.tolist()))
    }
    join_draws(plain)  # refuses what cannot be joined
    draws = join_draws([alone[chain] for chain in sorted(alone)])
    watched: dict[tuple[int, int], NDArray[np.float64]] = {}
    for run in runs:
        watched |= run.watched
    told = [run.diagnostics for run in runs]
    tuned = {chain: found for each in told for chain, found in each.tuned.items()}
    chains, epochs = sorted(alone), sorted({epoch for _, epoch in watched})
    compared = {epoch: median_rhat(watched, chains, epoch) for epoch in epochs}
    return replace(
        draws,
        watched=watched,
        diagnostics=Diagnostics(
            tuple(sorted((r for each in told for r in each.reports), key=lambda r: (r.epoch, r.chain))),
            {epoch: value for epoch, value in compared.items() if value is not None},
            median_size(watched, chains, max(epochs)) if epochs else None,
            {chain: tuned[chain] for chain in sorted(tuned)},
            tuple(sorted((r for each in told for r in each.restarts), key=lambda r: (r.epoch, r.chain))),
        ),
    )


def _series(
    watched: Mapping[tuple[int, int], NDArray[np.float64]], chains: Sequence[int], epoch: int
) -> NDArray[np.float64] | None:
    """Held-out log-likelihoods (C, n, N) up to a kept epoch; ``None`` if they are too few to compare."""
    epochs = [t for t in sorted({t for _, t in watched}) if t <= epoch]
    if len(epochs) < LEAST or len(chains) < 2 or any((c, t) not in watched for c in chains for t in epochs):
        return None
    return np.array([[watched[chain, t] for t in epochs] for chain in chains])
