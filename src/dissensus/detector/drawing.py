"""One fit to a choice of rows: the inputs' scales, the draws, and what the score learns from validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from dissensus.detector.learnt import Drawn
from dissensus.detector.measuring import OnProgress, available_statistics, measure, needs_one_a_call
from dissensus.detector.plan import Plan
from dissensus.detector.statistic import settled_score
from dissensus.inputs import Preprocessor, embed_inputs, fit_embedded, fit_preprocessor
from dissensus.inputs.tables import Table
from dissensus.likelihood import check_proposal
from dissensus.models.inputs import to_tensor
from dissensus.posterior import EpochReport, sample_posterior
from dissensus.scores import Score
from dissensus.seeding import numpy_stream

__all__ = ["SAMPLING", "Fitted", "Prepare", "PreparedRows", "Rows", "draw", "preparing"]

SAMPLING = "sampling"
"""The stage of a fit that draws weights."""

Rows: TypeAlias = Mapping[str, NDArray[np.int64]]
"""Which inputs serve which purpose: train, validation and calibration."""


@dataclass(frozen=True)
class PreparedRows:
    """Inputs as read, and what a model reads of each part."""

    preprocessor: Preprocessor
    array: NDArray[Any]
    rows: Rows
    parts: Mapping[str, Tensor]

    def given(self, part: str) -> NDArray[Any]:
        """Return a part's inputs as read."""
        return self.array[self.rows[part]]


Prepare: TypeAlias = Callable[[Rows, bool, int | None], PreparedRows]
"""Learns a preprocessor from the training rows, some of which are kept to measure distances to, or not.

Warnings point so many calls up; None: they were given.
"""


@dataclass(frozen=True)
class Fitted:
    """Draws, and a score that has learnt what inliers are."""

    prepared: PreparedRows
    drawn: Drawn
    score: Score


def preparing(inputs: NDArray[Any] | Table, plan: Plan) -> Prepare:
    """Return what prepares a choice of rows; inputs are embedded here, once for all choices."""
    random = partial(numpy_stream, plan.seed, "surroundings")  # chooses the rows that are kept
    if plan.embed is not None:
        embedded = embed_inputs(inputs, plan.embed, resize=plan.resize)

        def prepare_embedded(rows: Rows, keep: bool, _: int | None) -> PreparedRows:
            preprocessor, data = fit_embedded(embedded, rows["train"], random() if keep else None)
            parts = {name: to_tensor(data[index]) for name, index in rows.items()}
            return PreparedRows(preprocessor, embedded.array, rows, parts)

        return prepare_embedded

    def prepare(rows: Rows, keep: bool, stacklevel: int | None) -> PreparedRows:
        preprocessor, array = fit_preprocessor(
            inputs,
            rows["train"],
            resize=plan.resize,
            random=random() if keep else None,
            as_they_are=plan.own_shape,
            stacklevel=None if stacklevel is None else stacklevel + 1,
        )
        parts = {name: to_tensor(preprocessor.transform(array[index])) for name, index in rows.items()}
        return PreparedRows(preprocessor, array, rows, parts)

    return prepare


def draw(
    prepared: PreparedRows,
    plan: Plan,
    *,
    checkpoint: str | Path | None,
    on_progress: OnProgress | None,
    stage: str = SAMPLING,
) -> Fitted:
    """Draw weights by the training part, and let the score learn from the validation part."""
    preprocessor, parts = prepared.preprocessor, prepared.parts
    model = plan.build(tuple(parts["train"].shape[1:]), preprocessor.clip, plan.seed)
    sampler = plan.sampler(model.recommended)
    settings = plan.sampling(sampler, len(parts["train"]))
    check_proposal(plan.proposal, model)
    score = settled_score(
        plan.statistic,
        available_statistics(
            model,
            preprocessor,
            several=settings.inference is None and settings.draws > settings.chains,
        ),
        draws=settings.draws,
        inliers=len(parts["validation"]),
    )
    if not set(preprocessor.statistic_names) & set(score.requires):
        preprocessor = preprocessor.without_training_inputs()

    def learnt_from(data: Tensor) -> Tensor:
        """Rows are cut off, lest one absurd value runs away with a chain."""
        clip = preprocessor.clip
        return data if clip is None else data.clamp(-clip, clip)

    def on_epoch(reports: Sequence[EpochReport]) -> None:
        if on_progress is not None:
            on_progress(stage, reports[0].epoch, settings.epochs)

    draws = sample_posterior(
        model,
        learnt_from(parts["train"]).to(plan.device),
        settings,
        seed=plan.seed,
        held_out=learnt_from(parts["validation"]),
        checkpoint=checkpoint,
        on_epoch=on_epoch,
    )
    one_a_call = needs_one_a_call(
        preprocessor, model, draws, samples=plan.samples, seed=plan.seed, device=plan.device
    )
    drawn = Drawn(preprocessor, model, draws, sampler, plan.seed, plan.samples, plan.proposal, one_a_call)
    if score.learns:
        held_out = prepared.given("validation")
        score.fit(measure(drawn, held_out, score.requires, device=plan.device, data=parts["validation"]))
    return Fitted(prepared, drawn, score)
