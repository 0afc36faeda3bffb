"""One fit to a choice of rows: the inputs' scales, the draws, and what the score learns from validation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.detector.learnt import Drawn
from dissensus.detector.measuring import OnProgress, available_statistics, needs_one_a_call
from dissensus.detector.plan import Plan
from dissensus.detector.sampling import Sampler
from dissensus.detector.settings import all_devices
from dissensus.detector.statistic import settled_score
from dissensus.detector.teaching import teach
from dissensus.explain import choose_examples
from dissensus.inputs import (
    Preprocessor,
    TextPreprocessor,
    Vocabulary,
    embed_inputs,
    fit_embedded,
    fit_preprocessor,
)
from dissensus.inputs.tables import Table
from dissensus.likelihood import check_proposal
from dissensus.models import GenerativeModel
from dissensus.models.inputs import channels_last, to_tensor
from dissensus.posterior import HELD_OUT_ROWS, BlockData, EpochReport, WeightDraws, sample_on_devices
from dissensus.scores import Score
from dissensus.seeding import numpy_stream

__all__ = [
    "CODED",
    "EXAMPLES",
    "SAMPLING",
    "Fitted",
    "HeldOut",
    "InMemory",
    "Prepare",
    "Prepared",
    "PreparedRows",
    "Rows",
    "Sampled",
    "preparing",
    "sample",
    "training_parts",
    "with_score",
]

SAMPLING = "sampling"
"""The stage of a fit that draws weights."""

EXAMPLES = "examples"
"""The part of the training inputs that is kept to be shown; it is chosen when all is drawn."""

CODED = "coded"
"""The part of the training inputs whose latent codes are kept; it is chosen when all is drawn, too."""

Rows: TypeAlias = Mapping[str, NDArray[np.int64]]
"""Which inputs serve which purpose: train, validation and calibration."""


class HeldOut(Protocol):
    """Inputs that no chain has seen, by their purpose, and training inputs of which something is kept."""

    def first(self, part: str, count: int) -> Tensor:
        """Return what a model reads of a part's first inputs."""
        ...

    def batches(self, part: str) -> Iterator[tuple[NDArray[Any], Tensor]]:
        """Yield a part's inputs as read and as a model reads them, as many at a time as fit into memory."""
        ...


class InMemory(ABC):
    """Inputs all of which are in memory."""

    parts: Mapping[str, Tensor]
    """What a model reads of each part."""

    @abstractmethod
    def given(self, part: str) -> NDArray[Any]:
        """Return a part's inputs as read."""

    def first(self, part: str, count: int) -> Tensor:
        """Return what a model reads of a part's first inputs."""
        return self.parts[part][:count]

    def batches(self, part: str) -> Iterator[tuple[NDArray[Any], Tensor]]:
        """Yield a part's inputs as read and as a model reads them: all at once."""
        yield self.given(part), self.parts[part]


class Prepared(HeldOut, Protocol):
    """Inputs with their purposes, ready to be learnt from."""

    @property
    def preprocessor(self) -> Preprocessor:
        """What was learnt of them."""
        ...

    @property
    def counts(self) -> dict[str, int]:
        """How many inputs serve which purpose."""
        ...

    @property
    def train(self) -> Tensor | BlockData:
        """What a model reads of the training inputs."""
        ...

    def seen(self, part: str) -> Iterable[Tensor]:
        """What a model reads of a part, as much at a time as fits into memory."""
        ...

    def with_training_parts(self, *, examples: int, coded: int, seed: int) -> HeldOut:
        """The same with at most so many training inputs as parts of their own."""
        ...


@dataclass(frozen=True)
class PreparedRows(InMemory):
    """Inputs as read, and what a model reads of each part."""

    preprocessor: Preprocessor
    array: NDArray[Any]
    rows: Rows
    parts: Mapping[str, Tensor]

    def given(self, part: str) -> NDArray[Any]:
        """Return a part's inputs as read."""
        return self.array[self.rows[part]]

    @property
    def counts(self) -> dict[str, int]:
        """How many inputs serve which purpose."""
        return {name: len(index) for name, index in self.rows.items()}

    @property
    def train(self) -> Tensor:
        """What a model reads of the training inputs."""
        return self.parts["train"]

    def seen(self, part: str) -> Iterable[Tensor]:
        """What a model reads of a part: all at once."""
        return (self.parts[part],)

    def with_training_parts(self, *, examples: int, coded: int, seed: int) -> PreparedRows:
        """The same with at most so many training inputs as parts of their own."""
        train = self.parts["train"]
        first = self.array[self.rows["train"][:1]]
        shown = self.preprocessor.shown(first, channels_last(train[:1]).numpy())
        chosen = training_parts(len(train), shown, examples=examples, coded=coded, seed=seed)
        rows = {name: self.rows["train"][places] for name, places in chosen.items()}
        parts = {name: train[torch.from_numpy(places)] for name, places in chosen.items()}
        return replace(self, rows={**self.rows, **rows}, parts={**self.parts, **parts})


def training_parts(
    total: int, shown: NDArray[Any], *, examples: int, coded: int, seed: int
) -> dict[str, NDArray[np.int64]]:
    """The numbers of training inputs, by chance and in order, that are :data:`EXAMPLES` and :data:`CODED`.

    ``shown`` is one of them as it would be kept.
    """
    by_chance = numpy_stream(seed, "latent codes").permutation(total)
    return {
        EXAMPLES: choose_examples(total, shown, count=examples, seed=seed),
        CODED: np.sort(by_chance[:coded]),
    }


Prepare: TypeAlias = Callable[[Rows, bool, int | None], PreparedRows]
"""Learns a preprocessor from the training rows, some of which are kept to measure distances to, or not.

Warnings point so many calls up; None: they were given.
"""


@dataclass(frozen=True)
class Sampled:
    """Draws of a model, and the score that is to learn from them."""

    preprocessor: Preprocessor
    model: GenerativeModel
    draws: WeightDraws
    sampler: Sampler
    score: Score
    """It has learnt nothing yet."""


@dataclass(frozen=True)
class Fitted:
    """Draws, and a score that has learnt what inliers are."""

    held_out: HeldOut
    drawn: Drawn
    score: Score


def preparing(inputs: NDArray[Any] | Table, plan: Plan) -> Prepare:
    """Return what prepares a choice of rows; inputs are embedded here, once for all choices."""
    random = partial(numpy_stream, plan.seed, "surroundings")  # chooses the rows that are kept
    if isinstance(plan.embed, Vocabulary):
        texts = TextPreprocessor(plan.embed)
        array = texts.read(inputs).array
        symbols = to_tensor(plan.embed(array))

        def prepare_texts(rows: Rows, _keep: bool, _stacklevel: int | None) -> PreparedRows:
            return PreparedRows(texts, array, rows, {name: symbols[index] for name, index in rows.items()})

        return prepare_texts
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


def sample(
    prepared: Prepared,
    plan: Plan,
    *,
    checkpoint: str | Path | None,
    on_progress: OnProgress | None,
    stage: str = SAMPLING,
) -> Sampled:
    """Draw weights by the training part."""
    preprocessor, train, counts = prepared.preprocessor, prepared.train, prepared.counts
    model = plan.build(tuple(train.shape[1:]), preprocessor.clip, plan.seed)
    sampler = plan.sampler(model.recommended)
    settings = plan.sampling(sampler, len(train))
    check_proposal(plan.proposal, model)
    score = settled_score(
        plan.statistic,
        available_statistics(
            model,
            preprocessor,
            several=settings.inference is None and settings.draws > settings.chains,
        ),
        draws=settings.draws,
        inliers=counts["validation"],
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

    draws = sample_on_devices(
        model,
        train if isinstance(train, BlockData) else learnt_from(train),
        settings,
        all_devices(plan.device),
        seed=plan.seed,
        held_out=learnt_from(prepared.first("validation", HELD_OUT_ROWS)),
        checkpoint=checkpoint,
        on_epoch=on_epoch,
    )
    return Sampled(preprocessor, model, draws, sampler, score)


def with_score(sampled: Sampled, held_out: HeldOut, plan: Plan) -> Fitted:
    """Let the score learn from the validation part, under all draws."""
    one_a_call = needs_one_a_call(
        sampled.preprocessor,
        sampled.model,
        sampled.draws,
        samples=plan.samples,
        seed=plan.seed,
        device=plan.device,
    )
    drawn = Drawn(
        sampled.preprocessor,
        sampled.model,
        sampled.draws,
        sampled.sampler,
        plan.seed,
        plan.samples,
        plan.proposal,
        one_a_call,
    )
    score = sampled.score
    if score.learns:
        teach(score, drawn, held_out.batches("validation"), device=plan.device)
    return Fitted(held_out, drawn, score)
