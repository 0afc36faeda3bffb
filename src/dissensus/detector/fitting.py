"""How a detector learns: the draws, what the score learns from held-out inliers, and the calibration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from dissensus.detector.learnt import Drawn, Learnt
from dissensus.detector.measuring import (
    OnProgress,
    available_statistics,
    every_statistic,
    measure,
    needs_one_a_call,
)
from dissensus.detector.parts import part_fractions
from dissensus.detector.statistic import Statistic, settled_score
from dissensus.errors import DataError
from dissensus.explain import Examples
from dissensus.inputs import Preprocessor, fit_embedded, fit_preprocessor, split, training_inputs
from dissensus.likelihood import Proposal, check_proposal, noise_floor
from dissensus.models import GenerativeModel
from dissensus.models.inputs import channels_last, to_tensor
from dissensus.posterior import EpochReport, SamplingSettings, sample_posterior

__all__ = ["Plan", "learn"]

LEAST_ROWS = 5
NOISE_FLOOR_ROWS = 64


@dataclass(frozen=True)
class Plan:
    """What a fit is to do, besides the inputs."""

    build: Callable[[tuple[int, ...], float | None, int], GenerativeModel]
    """Makes the model, by the shape of what it reads, how far out its training values lie, and the seed."""
    sampling: Callable[[int], SamplingSettings]
    """How weights are drawn from so many training inputs."""
    statistic: Statistic
    samples: int
    proposal: Proposal
    resize: tuple[int, int] | None
    examples: int
    embed: object
    """What turns inputs into vectors first; None: nothing does."""
    seed: int
    device: torch.device


def learn(
    X: Any, plan: Plan, *, checkpoint: str | Path | None, on_progress: OnProgress | None, stacklevel: int
) -> Learnt:
    """Learn from inputs what is normal; warnings about them point so many calls up."""
    inputs = training_inputs(X, resize=plan.resize, embedded=plan.embed is not None)
    if len(inputs) < LEAST_ROWS:
        raise DataError(
            f"X holds too few rows (n_samples={len(inputs)}): give at least {LEAST_ROWS}, and better hundreds"
        )
    rows = split(len(inputs), part_fractions(len(inputs)), seed=plan.seed)
    settings = plan.sampling(len(rows["train"]))
    preprocessor: Preprocessor
    if plan.embed is None:
        preprocessor, array = fit_preprocessor(
            inputs, rows["train"], resize=plan.resize, stacklevel=stacklevel + 1
        )
        parts = {name: to_tensor(preprocessor.transform(array[index])) for name, index in rows.items()}
    else:
        preprocessor, array, data = fit_embedded(inputs, rows["train"], plan.embed, resize=plan.resize)
        parts = {name: to_tensor(data[index]) for name, index in rows.items()}
    model = plan.build(tuple(parts["train"].shape[1:]), preprocessor.clip, plan.seed)
    check_proposal(plan.proposal, model)
    score = settled_score(
        plan.statistic,
        available_statistics(
            model,
            preprocessor.seen,
            several=settings.inference is None and settings.draws > settings.chains,
        ),
        draws=settings.draws,
        inliers=len(rows["validation"]),
    )

    def learnt_from(data: Tensor) -> Tensor:
        """Rows are cut off, lest one absurd value runs away with a chain."""
        clip = preprocessor.clip
        return data if clip is None else data.clamp(-clip, clip)

    def on_epoch(reports: Sequence[EpochReport]) -> None:
        if on_progress is not None:
            on_progress("sampling", reports[0].epoch, settings.epochs)

    draws = sample_posterior(
        model,
        learnt_from(parts["train"]).to(plan.device),
        settings,
        seed=plan.seed,
        held_out=learnt_from(parts["validation"]),
        checkpoint=checkpoint,
        on_epoch=on_epoch,
    )
    asked: dict[str, Any] = {"samples": plan.samples, "seed": plan.seed, "device": plan.device}
    one_a_call = needs_one_a_call(preprocessor, model, draws, **asked)
    drawn = Drawn(preprocessor, model, draws, plan.seed, plan.samples, plan.proposal, one_a_call)
    if score.learns:
        held_out = array[rows["validation"]]
        score.fit(measure(drawn, held_out, score.requires, device=plan.device, data=parts["validation"]))
    found = Learnt(
        **vars(drawn),
        score=score,
        calibration={},
        examples=Examples.choose(
            preprocessor.shown(array[rows["train"]], channels_last(parts["train"]).numpy()),
            parts["train"],
            model,
            draws,
            count=plan.examples,
            seed=plan.seed,
            device=plan.device,
        ),
        rows={name: len(index) for name, index in rows.items()},
        noise_floor=noise_floor(model, draws, parts["validation"][:NOISE_FLOOR_ROWS], **asked),
    )
    calibration = every_statistic(
        found,
        array[rows["calibration"]],
        data=parts["calibration"],
        device=plan.device,
        on_progress=on_progress,
        stage="calibrating",
    )
    return replace(found, calibration=calibration)
