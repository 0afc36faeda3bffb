"""The matrix every score is made from: the log-likelihood of every input under every draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.errors import SettingsError
from dissensus.likelihood.finished import FinishedRows
from dissensus.likelihood.full_precision import full_precision
from dissensus.likelihood.rows import Rows
from dissensus.likelihood.stacked import StackedRows
from dissensus.likelihood.workspace import workspace
from dissensus.models import GenerativeModel, Scorer
from dissensus.posterior import WeightDraws
from dissensus.seeding import torch_stream
from dissensus.side_by_side import side_by_side
from dissensus.tiles import tile_ranges
from dissensus.torch_threads import usable_threads

__all__ = ["LogLikelihoods", "MakeScorer", "Proposal", "check_proposal", "log_likelihoods", "noise_floor"]


Proposal: TypeAlias = Literal["own", "pooled"]
MakeScorer: TypeAlias = Callable[[Any, Tensor, int], Scorer]
"""From a model, noise (K, noise_size) on the same device, and how many inputs are worked on at once."""


def own_scorer(model: GenerativeModel, noise: Tensor, tile: int) -> Scorer:
    """The model's own."""
    return model.scorer(noise, tile)


@dataclass(frozen=True)
class LogLikelihoods:
    """log p̂(x_n | θ_m) in nats, with what is needed to judge and to repeat it."""

    values: NDArray[np.float64]
    """(M, N)"""
    errors: NDArray[np.float64]
    """Monte-Carlo error of each value (M, N); NaN for K = 1, which cannot tell.

    It comes from the K weights themselves, and is at most 1: where most of the weight is on one sample, the
    value can be wrong by more."""
    samples: int
    """K"""
    seed: int
    """Of the noise, which all draws and all inputs share."""

    @property
    def biases(self) -> NDArray[np.float64]:
        """By how much each value (M, N) is wrong on average, to first order: −error²/2, never above 0.

        The logarithm of a mean is too low on average, the more so the fewer samples. Like the error this is
        known from the K weights alone, and is a part of the whole where few samples carry most of the weight.
        """
        return -0.5 * np.square(self.errors)


def log_likelihoods(
    model: GenerativeModel,
    draws: WeightDraws,
    data: Tensor,
    *,
    samples: int = 32,
    seed: int = 0,
    device: torch.device | str = "cpu",
    checkpoint: str | Path | None = None,
    on_tile: Callable[[int], None] | None = None,
    scorer: MakeScorer = own_scorer,
    one_a_call: bool = False,
    proposal: Proposal = "own",
    by_size: bool = False,
) -> LogLikelihoods:
    """The matrix (M, N) for inputs ``data`` (N, *S), uint8 or float, with K = ``samples`` importance samples.

    The noise is the same for all draws, so it cancels between them, and the same for all inputs, and inputs
    are worked on in tiles of one fixed shape: what an input gets depends on nothing but itself. Memory is
    bounded by a tile, apart from the matrix and one encoding (Z) an input. ``on_tile`` is called with the
    number of (draw, input) pairs just finished. With ``checkpoint``, a folder, every finished draw is kept
    there, and the same call made again goes on where it stopped, to the same numbers. ``scorer`` makes
    another way to score tiles than the model's own; with ``by_size`` it is the model's own for as much as
    there is to do, so that last bits may depend on how many inputs there are. ``one_a_call`` is for networks
    whose rounding of an input or of a draw depends on its place among others
    (:func:`dissensus.likelihood.keeps_bits`): one input is worked on under one draw at a time, which is
    slower.

    ``proposal`` is where samples come from: each draw's ``"own"`` inference parts, or ``"pooled"``, the
    mixture of those of all draws, which is the paper's q(z|x, D). A model whose log-likelihood is exact has
    no samples: K is then 1.
    """
    if samples < 1:
        raise SettingsError(f"samples must be at least 1, got {samples}")
    check_proposal(proposal, model)
    device = torch.device(device)
    samples = samples if model.noise_size else 1
    noise = torch.randn(samples, model.noise_size, generator=torch_stream(seed, "scoring noise")).to(device)
    tile, draws_at_once = (1, 1) if one_a_call else (model.tile(device, samples), model.draws_at_once)
    if by_size:
        evaluations = len(draws) * len(data) * max(1, samples)

        def scorer(own: Any, noise: Tensor, tile: int) -> Scorer:
            made: Scorer = own.scorer_for(noise, tile, evaluations)
            return made

    if proposal == "pooled":
        draws_at_once = 1  # what all draws propose together is made once, and given to one draw after another
    finished = (
        None
        if checkpoint is None
        else FinishedRows(
            checkpoint,
            model,
            draws,
            data,
            samples=samples,
            seed=seed,
            device=device,
            proposal=proposal,
            one_a_call=one_a_call,
        )
    )
    values, errors = (torch.empty(len(draws), len(data), dtype=torch.float64) for _ in range(2))
    missing = set(range(len(draws) if len(data) else 0))
    if finished is not None:
        for draw in sorted(missing):
            if (row := finished.load(draw)) is not None:
                values[draw], errors[draw] = row
                missing.remove(draw)
                if on_tile is not None:
                    on_tile(len(data))

    def scored(own_draws: Sequence[int], inputs: slice) -> Iterator[tuple[int, int]]:
        """Fills in some draws of some inputs; yields a draw and how many more of its inputs are done."""
        with (
            workspace(model, device) as own,  # first: what is made in inference mode can be used nowhere else
            torch.inference_mode(),
            full_precision(),
        ):
            rows: Rows | StackedRows
            if draws_at_once > 1:
                rows = StackedRows(own, draws, data[inputs], noise, tile=tile)
            else:
                made, pooled = scorer(own, noise, tile), proposal == "pooled"
                rows = Rows(own, draws, data[inputs], noise, tile=tile, scorer=made, pooled=pooled)
            for draw, count, row in rows.scored(own_draws):
                if row is not None:
                    values[draw, inputs], errors[draw, inputs] = row
                yield draw, count

    in_groups = [draw for own in draws.sharing(model.inference) for draw in own.tolist() if draw in missing]
    left = dict.fromkeys(in_groups, len(data))
    for draw, count in _shared(scored, in_groups, len(data), tile, draws_at_once, device):
        left[draw] -= count
        if finished is not None and not left[draw]:
            finished.save(draw, values[draw], errors[draw])
        if on_tile is not None:
            on_tile(count)
    return LogLikelihoods(values.numpy(), errors.numpy(), samples, seed)


def check_proposal(proposal: object, model: GenerativeModel | None = None) -> None:
    """Refuse what is no way to propose samples, and one that the model does not have."""
    if proposal not in get_args(Proposal):
        raise SettingsError(f"proposal must be 'own' or 'pooled', got {proposal!r}")
    if (
        proposal == "pooled"
        and model is not None
        and model.inference
        and type(model).pooled is GenerativeModel.pooled
    ):
        raise SettingsError(
            f"proposal='pooled' mixes what all draws propose, and {type(model).__name__} has no pooled(): "
            "take proposal='own'"
        )


def noise_floor(
    model: GenerativeModel,
    draws: WeightDraws,
    data: Tensor,
    *,
    samples: int,
    seed: int = 0,
    device: torch.device | str = "cpu",
) -> float:
    """How far one draw's log-likelihoods move, in nats, when only the noise changes: less is no disagreement.

    The root mean square difference between two noises over √2, for the last draw; 0 where there is no noise.
    """
    if not model.noise_size:
        return 0.0
    last = draws.select(np.array([len(draws) - 1]))
    first, second = (
        log_likelihoods(model, last, data, samples=samples, seed=other, device=device).values
        for other in (seed, seed + 1)
    )
    return float(np.sqrt(np.mean((first - second) ** 2) / 2))


def _shared(
    scored: Callable[[Sequence[int], slice], Iterator[tuple[int, int]]],
    draws: Sequence[int],
    inputs: int,
    tile: int,
    draws_at_once: int,
    device: torch.device,
) -> Iterator[tuple[int, int]]:
    """All draws of all inputs: on a CPU divided between its cores by draws, and by tiles if these are few.

    Draws that are evaluated at once stay together, so that their places do not depend on the cores either.
    """
    if not draws:
        return iter(())
    if device.type != "cpu":
        return scored(draws, slice(0, inputs))
    cores = usable_threads()
    shares = tile_ranges(len(draws), draws_at_once, cores)
    works = [
        scored(draws[own], rows) for own in shares for rows in tile_ranges(inputs, tile, cores // len(shares))
    ]
    # One thread each, whatever the number of cores: so the bits do not depend on it.
    return side_by_side(works, threads=1)
