"""What a score learns from validation inputs, and from outliers that are made up of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.detector.learnt import Drawn
from dissensus.detector.measuring import measure
from dissensus.inputs import as_bytes, every_kind
from dissensus.scores import MATRIX, SCORES, Measured, Score
from dissensus.seeding import stream_seed

__all__ = ["teach"]

MADE_OF = 100  # validation pictures, at most, that outliers of each kind are made of
MADE_OF_NUMBERS = 1 << 21  # of these pictures: each large one takes long
MADE_OF_LEAST = 20  # however large: of one or two a statistic may find all by chance


def teach(
    score: Score,
    drawn: Drawn,
    validation: Iterable[tuple[NDArray[Any], Tensor]],
    *,
    device: torch.device,
) -> None:
    """Let a score learn from validation inputs, which come in batches, as read and as a model reads them."""
    found: list[Measured] = []
    pictures: list[NDArray[Any]] = []
    wanted = 0
    for number, (inliers, data) in enumerate(validation):
        found.append(measure(drawn, inliers, score.requires, device=device, data=data))
        if not number and drawn.preprocessor.pictured and score.weighs:
            wanted = min(MADE_OF, max(MADE_OF_LEAST, MADE_OF_NUMBERS // inliers[0].size))
        if wanted:  # of as many batches as it takes: how inputs are divided must not show in a score
            pictures.append(inliers[:wanted].copy())  # a view would keep its batch in memory
            wanted -= len(pictures[-1])
    if pictures:
        _weigh(score, drawn, np.concatenate(pictures), device)
    score.fit(Measured.together(found))


def _weigh(score: Score, drawn: Drawn, pictures: NDArray[Any], device: torch.device) -> None:
    """Let it learn what to count more from pictures, and from outliers of each kind that are made of them.

    Log-likelihoods are those of one look at each picture where the model has them, whatever they are of those
    that are scored: all that matters here is which pictures have the lower ones.
    """
    needed = sorted({MATRIX if name in SCORES else name for name in score.weighs})
    if drawn.model.observes_likelihood:
        drawn = replace(drawn, effort=replace(drawn.effort, samples=0))

    def asked(some: NDArray[Any]) -> Measured:
        return measure(drawn, some, needed, device=device)

    made_up = every_kind(as_bytes(pictures), stream_seed(drawn.seed, "made up to learn from"))
    score.weigh(asked(pictures), [asked(own) for _, own in made_up])
