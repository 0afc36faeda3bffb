"""How a detector learns: the draws, what the score learns from held-out inliers, and the calibration."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from dissensus.detector.drawing import SAMPLING, Fitted, draw, preparing
from dissensus.detector.effort import efforts_for
from dissensus.detector.learnt import Learnt
from dissensus.detector.levels import make_level
from dissensus.detector.measuring import OnProgress, every_statistic
from dissensus.detector.parts import part_fractions
from dissensus.detector.plan import Plan
from dissensus.detector.trimming import AGAIN, leaves_out, left_out, near_the_bulk, trimmed
from dissensus.errors import DataError
from dissensus.explain import Examples
from dissensus.inputs import split, training_inputs
from dissensus.inputs.tables import Table
from dissensus.likelihood import noise_floor
from dissensus.models.inputs import channels_last

__all__ = ["learn"]

LEAST_ROWS = 5
NOISE_FLOOR_ROWS = 64


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
    are_rows = plan.embed is not None or isinstance(inputs, Table) or inputs.ndim == 2
    # Refused here, if it cannot be, before inputs are embedded.
    plan.sampling(plan.sampler(plan.recommended(are_rows)), len(rows["train"]))
    prepare = preparing(inputs, plan)
    if not leaves_out(rows, plan.contamination):
        every = prepare(rows, plan.neighbours, stacklevel + 1)
        return _calibrated(
            draw(every, plan, checkpoint=checkpoint, on_progress=on_progress), plan, on_progress
        )
    # Each training row is its own nearest: what is odd among them is told without what is kept of them.
    first, stage = prepare(rows, False, stacklevel + 1), SAMPLING
    if first.preprocessor.pictured:
        fitted = draw(first, plan, checkpoint=checkpoint, on_progress=on_progress)
        kept, stage = trimmed(fitted, plan, on_progress=on_progress), AGAIN
        checkpoint = None if checkpoint is None else Path(checkpoint) / "again"
        del fitted
    else:
        kept = near_the_bulk(first, plan)
    del first
    final = draw(
        prepare(kept, plan.neighbours, None),
        plan,
        checkpoint=checkpoint,
        on_progress=on_progress,
        stage=stage,
    )
    return replace(_calibrated(final, plan, on_progress), left_out=left_out(rows, kept, plan.contamination))


def _calibrated(fitted: Fitted, plan: Plan, on_progress: OnProgress | None) -> Learnt:
    """What a fit has learnt, with the statistics of its calibration inputs."""
    prepared, drawn = fitted.prepared, fitted.drawn
    train = prepared.parts["train"]
    found = Learnt(
        **vars(drawn),
        score=fitted.score,
        calibration={},
        examples=Examples.choose(
            drawn.preprocessor.shown(prepared.given("train"), channels_last(train).numpy()),
            train,
            drawn.model,
            drawn.draws,
            count=plan.examples,
            seed=plan.seed,
            device=plan.device,
        ),
        rows={name: len(index) for name, index in prepared.rows.items()},
        noise_floor=noise_floor(
            drawn.model,
            drawn.draws,
            prepared.parts["validation"][:NOISE_FLOOR_ROWS],
            samples=plan.samples,
            seed=plan.seed,
            device=plan.device,
        ),
    )
    calibration = every_statistic(
        found,
        prepared.given("calibration"),
        data=prepared.parts["calibration"],
        device=plan.device,
        on_progress=on_progress,
        stage="calibrating",
    )
    found = replace(found, calibration=calibration)
    validation, held_out = prepared.given("validation"), prepared.given("calibration")
    levels = {
        effort.name: make_level(found, effort, plan.statistic, validation, held_out, device=plan.device)
        for effort in efforts_for(drawn.model, plan.statistic)
    }
    return replace(found, levels=levels)
