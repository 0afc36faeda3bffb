"""What is measured of inputs by the draws of a model, and every statistic that is made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.decisions import rounded
from dissensus.detector.effort import WHOLE, Effort
from dissensus.detector.learnt import Drawn, Learnt
from dissensus.detector.settings import all_devices
from dissensus.errors import DataError
from dissensus.explain import statistics_of
from dissensus.inputs import Preprocessor
from dissensus.likelihood import (
    LogLikelihoods,
    input_statistics,
    keeps_bits,
    log_likelihoods_on,
    one_look,
    statistic_names,
)
from dissensus.models import GenerativeModel
from dissensus.models.inputs import channels_last, to_tensor
from dissensus.posterior import WeightDraws
from dissensus.scores import MATRIX, Available, Measured, Score, is_built_in, scored
from dissensus.seeding import numpy_stream
from dissensus.side_by_side import side_by_side
from dissensus.tiles import tile_ranges
from dissensus.torch_threads import usable_threads

__all__ = [
    "OnProgress",
    "available_statistics",
    "every_statistic",
    "likelihoods",
    "measure",
    "measure_everything",
    "needs_one_a_call",
    "scores_of",
    "scores_of_measured",
]

OnProgress: TypeAlias = Callable[[str, int, int], None]
"""Called with the name of a stage, how much of it is done, and how much there is."""

MADE_UP = 64  # inputs that a detector is tried out on
SHARE = 2048  # inputs whose scores are worth handing over to another core


def available_statistics(
    model: GenerativeModel, preprocessor: Preprocessor, *, several: bool, effort: Effort = WHOLE
) -> Available:
    """Return which statistics can be measured of inputs.

    ``several`` says whether chains have several weights of the model's inference parts.
    """
    names = (*statistic_names(model, several=several), *model.further)
    return Available(names, _of_inputs(preprocessor, effort), wide=preprocessor.wide)


def _of_inputs(preprocessor: Preprocessor, effort: Effort) -> tuple[str, ...]:
    return tuple(name for name in preprocessor.statistic_names if name not in effort.leaves_out)


def likelihoods(
    drawn: Drawn,
    data: Tensor,
    *,
    device: torch.device,
    on_progress: OnProgress | None = None,
    stage: str = "scoring",
    by_size: bool = False,
) -> LogLikelihoods:
    """Return the matrix (M, N) of inputs ``data`` (N, *S) as the model reads them.

    With ``by_size`` its last bits may depend on N, which those of a score never do.
    """
    done, total = 0, len(drawn.draws) * len(data)

    def on_tile(pairs: int) -> None:
        nonlocal done
        done += pairs
        if on_progress is not None:
            on_progress(stage, done, total)

    return log_likelihoods_on(
        all_devices(device),
        drawn.model,
        drawn.draws,
        data,
        samples=drawn.effort.samples or drawn.samples,
        seed=drawn.seed,
        on_tile=on_tile,
        one_a_call=drawn.one_a_call,
        proposal=drawn.proposal,
        by_size=by_size,
    )


def measure(
    drawn: Drawn,
    inputs: NDArray[Any],
    wanted: Sequence[str],
    *,
    device: torch.device,
    on_progress: OnProgress | None = None,
    stage: str = "scoring",
    data: Tensor | None = None,
) -> Measured:
    """Return the wanted statistics of inputs (N, H, W, C) or (N, D) that were read before, and no more.

    ``data`` is what the model reads of them, where that is known: to embed them again would take long.
    """
    if data is None:
        data = to_tensor(drawn.preprocessor.transform(inputs))
    others: dict[str, NDArray[np.float64]] = {}
    matrix = None
    if _looks(drawn, set(wanted)):
        matrix, others = one_look(
            drawn.model, drawn.draws, data, only=wanted, device=device, one_a_call=drawn.one_a_call
        )
    elif of_draws := [name for name in wanted if name in _told(drawn.model)]:
        others |= input_statistics(
            drawn.model, drawn.draws, data, only=of_draws, device=device, one_a_call=drawn.one_a_call
        )
    if not {MATRIX, *others}.issuperset(wanted):
        own = drawn.preprocessor.statistics_on(device, inputs, channels_last(data).numpy(), only=wanted)
        others |= {name: values for name, values in own.items() if name in wanted}
    if MATRIX in wanted and matrix is None:
        matrix = likelihoods(drawn, data, device=device, on_progress=on_progress, stage=stage).values
    elif on_progress is not None:
        on_progress(stage, len(inputs), len(inputs))
    return Measured(matrix, others)


def _looks(drawn: Drawn, wanted: set[str]) -> bool:
    """Whether log-likelihoods and statistics come from the same evaluations.

    Of a model whose log p is exact they always do, if both are wanted: what it observes is log p itself.
    """
    of_draws = set(_told(drawn.model)) & wanted
    exact = drawn.model.observes_likelihood and not drawn.model.noise_size
    if exact:
        return bool(of_draws) and MATRIX in wanted
    return drawn.effort.looks and (bool(of_draws) or MATRIX in wanted)


def _told(model: GenerativeModel) -> tuple[str, ...]:
    """Everything that a model can tell beside log p."""
    return (*model.observed, *model.further)


def measure_everything(
    learnt: Learnt,
    inputs: NDArray[Any],
    *,
    device: torch.device,
    on_progress: OnProgress | None = None,
    stage: str = "scoring",
    data: Tensor | None = None,
) -> Measured:
    """Return all that there is to show about inputs beside their score.

    That is the matrix, and where the score requires other statistics, all of these.
    """
    wanted: tuple[str, ...] = (MATRIX,)
    if (required := set(learnt.score.requires)) - {MATRIX}:
        told = [name for name in _told(learnt.model) if name in learnt.model.observed or name in required]
        wanted = (MATRIX, *told, *_of_inputs(learnt.preprocessor, learnt.effort))
    return measure(learnt, inputs, wanted, device=device, on_progress=on_progress, stage=stage, data=data)


def scores_of(
    learnt: Learnt, inputs: NDArray[Any], *, device: torch.device, on_progress: OnProgress | None = None
) -> NDArray[np.float64]:
    """Return the scores (N,) of inputs that were read before, rounded as decisions need them."""
    measured = measure(learnt, inputs, learnt.score.requires, device=device, on_progress=on_progress)
    return rounded(scores_of_measured(learnt.score, measured))


def scores_of_measured(score: Score, measured: Measured) -> NDArray[np.float64]:
    """The scores (N,) of what was measured; those of very many inputs are made on all cores.

    Of a score of one's own nobody knows whether it may be asked about some inputs at a time.
    """
    shares = tile_ranges(len(measured), SHARE, usable_threads()) if is_built_in(score) else []
    if len(shares) < 2:
        return scored(score, measured)
    found = np.empty(len(measured))

    def made(share: slice) -> Iterator[None]:
        found[share] = scored(score, measured.select(share))
        yield

    try:
        for _ in side_by_side([made(share) for share in shares], threads=1):
            pass
    except DataError:
        return scored(score, measured)  # what is refused is numbered among all inputs, not in its share
    return found


def every_statistic(
    learnt: Learnt,
    inputs: NDArray[Any],
    *,
    device: torch.device,
    on_progress: OnProgress | None = None,
    stage: str = "scoring",
    data: Tensor | None = None,
) -> dict[str, NDArray[np.float64]]:
    """Return every statistic (N,) of inputs that were read before, by name; the detector's own first."""
    measured = measure_everything(
        learnt, inputs, device=device, on_progress=on_progress, stage=stage, data=data
    )
    return statistics_of(measured, learnt.score)


def needs_one_a_call(
    preprocessor: Preprocessor,
    model: GenerativeModel,
    draws: WeightDraws,
    *,
    samples: int,
    seed: int,
    device: torch.device,
) -> bool:
    """Whether an input's bits would depend on its place among others: tried out on made-up inputs.

    What matters is their shape, and they are a function of the seed: a detector that was saved and loaded is
    tried with the same ones, and decides as it did when it was fitted.
    """
    inputs = to_tensor(preprocessor.made_up(MADE_UP, numpy_stream(seed, "places")))
    return not keeps_bits(model, draws, inputs, samples=samples, seed=seed, device=device)
