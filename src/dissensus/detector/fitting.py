"""How a detector learns: the draws, what the score learns from held-out inliers, and the calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.detector.drawing import (
    EXAMPLES,
    SAMPLING,
    Fitted,
    Prepared,
    Rows,
    preparing,
    sample,
    with_score,
)
from dissensus.detector.effort import efforts_for
from dissensus.detector.latent_space import codes_of_fit, how_many_coded
from dissensus.detector.learnt import Learnt
from dissensus.detector.levels import make_level
from dissensus.detector.measuring import OnProgress, every_statistic
from dissensus.detector.parts import part_fractions
from dissensus.detector.plan import Plan
from dissensus.detector.trimming import AGAIN, leaves_out, left_out, near_the_bulk, trimmed
from dissensus.errors import DataError
from dissensus.explain import Examples, first_codes
from dissensus.inputs import split, training_inputs
from dissensus.inputs.tables import Table
from dissensus.likelihood import noise_floor
from dissensus.models.inputs import channels_last

__all__ = ["calibrated", "check_count", "divided", "learn", "learnt_from"]

LEAST_ROWS = 5
NOISE_FLOOR_ROWS = 64


def learn(
    X: Any, plan: Plan, *, checkpoint: str | Path | None, on_progress: OnProgress | None, stacklevel: int
) -> Learnt:
    """Learn from inputs what is normal; warnings about them point so many calls up."""
    inputs, rows = divided(X, plan)
    prepare = preparing(inputs, plan)
    if not leaves_out(rows, plan.contamination):
        every = prepare(rows, plan.neighbours, stacklevel + 1)
        return learnt_from(every, plan, checkpoint=checkpoint, on_progress=on_progress)
    # Each training row is its own nearest: what is odd among them is told without what is kept of them.
    first, stage = prepare(rows, False, stacklevel + 1), SAMPLING
    if first.preprocessor.pictured:
        sampled = sample(first, plan, checkpoint=checkpoint, on_progress=on_progress)
        kept, stage = trimmed(first, with_score(sampled, first, plan), plan, on_progress=on_progress), AGAIN
        checkpoint = None if checkpoint is None else Path(checkpoint) / "again"
        del sampled
    else:
        kept = near_the_bulk(first, plan)
    del first
    final = learnt_from(
        prepare(kept, plan.neighbours, None),
        plan,
        checkpoint=checkpoint,
        on_progress=on_progress,
        stage=stage,
    )
    return replace(final, left_out=left_out(rows, kept, plan.contamination))


def divided(X: Any, plan: Plan) -> tuple[NDArray[Any] | Table, Rows]:
    """Return checked inputs, and which of them serve which purpose.

    What cannot be learnt from them is refused here, before any are embedded.
    """
    inputs = training_inputs(X, resize=plan.resize, embedded=plan.embed is not None)
    check_count(len(inputs))
    rows = split(len(inputs), part_fractions(len(inputs)), seed=plan.seed)
    are_rows = plan.embed is not None or isinstance(inputs, Table) or inputs.ndim == 2
    plan.sampling(plan.sampler(plan.recommended(are_rows)), len(rows["train"]))
    return inputs, rows


def check_count(inputs: int) -> None:
    """Refuse inputs that are too few to be divided."""
    if inputs < LEAST_ROWS:
        raise DataError(
            f"X holds too few rows (n_samples={inputs}): give at least {LEAST_ROWS}, and better hundreds"
        )


def calibrated(
    fitted: Fitted, counts: Mapping[str, int], plan: Plan, on_progress: OnProgress | None
) -> Learnt:
    """What a fit has learnt, with the statistics of its calibration inputs.

    ``counts`` says how many inputs went into which part.
    """
    held_out, drawn = fitted.held_out, fitted.drawn
    [(shown, kept)] = held_out.batches(EXAMPLES)
    found = Learnt(
        **vars(drawn),
        score=fitted.score,
        calibration={},
        examples=Examples(
            drawn.preprocessor.shown(shown, channels_last(kept).numpy()),
            first_codes(drawn.model, drawn.draws, kept, device=plan.device),
        ),
        rows=counts,
        noise_floor=noise_floor(
            drawn.model,
            drawn.draws,
            held_out.first("validation", NOISE_FLOOR_ROWS),
            samples=plan.samples,
            seed=plan.seed,
            device=plan.device,
        ),
        codes=codes_of_fit(drawn, held_out, plan.device),
    )
    done, parts = 0, []
    for inputs, data in held_out.batches("calibration"):
        measured = every_statistic(
            found,
            inputs,
            data=data,
            device=plan.device,
            on_progress=_of_all(on_progress, done, len(inputs), counts["calibration"]),
            stage="calibrating",
        )
        parts.append(measured)
        done += len(inputs)
    levels = {
        effort.name: make_level(
            found,
            effort,
            plan.statistic,
            held_out.batches("validation"),
            held_out.batches("calibration"),
            inliers=counts["validation"],
            device=plan.device,
        )
        for effort in efforts_for(drawn.model, plan.statistic)
    }
    calibration = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return replace(found, calibration=calibration, levels=levels)


def _of_all(on_progress: OnProgress | None, before: int, count: int, total: int) -> OnProgress | None:
    """Tells how much is done of all inputs, where it is told how much of ``count`` after ``before`` is."""
    if on_progress is None or count == total:
        return on_progress
    return lambda stage, done, own: on_progress(stage, before * own + done * count, total * own)


def learnt_from(
    prepared: Prepared,
    plan: Plan,
    *,
    checkpoint: str | Path | None,
    on_progress: OnProgress | None,
    stage: str = SAMPLING,
) -> Learnt:
    """What a fit to a choice of rows learns."""
    sampled = sample(prepared, plan, checkpoint=checkpoint, on_progress=on_progress, stage=stage)
    held_out = prepared.with_training_parts(
        examples=plan.examples, coded=how_many_coded(sampled.model, plan), seed=plan.seed
    )
    return calibrated(with_score(sampled, held_out, plan), prepared.counts, plan, on_progress)
