"""What a score learns from validation inputs, and from outliers that are made up of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.detector.learnt import Drawn
from dissensus.detector.measuring import measure
from dissensus.inputs import as_bytes, every_kind
from dissensus.scores import Measured, Score
from dissensus.seeding import stream_seed

__all__ = ["teach"]

MADE_OF = 300  # validation pictures, at most, that outliers of each kind are made of
MADE_OF_NUMBERS = 1 << 24  # of these pictures: large ones are few, for copies of them are made


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
        if not number and drawn.preprocessor.pictured:
            wanted = min(MADE_OF, max(1, MADE_OF_NUMBERS // inliers[0].size))
        if wanted:  # of as many batches as it takes: how inputs are divided must not show in a score
            pictures.append(inliers[:wanted].copy())  # a view would keep its batch in memory
            wanted -= len(pictures[-1])
    together = Measured.together(found)
    if score.weighs and pictures:
        score.weigh(together, list(_made_up(score, drawn, np.concatenate(pictures))))
    score.fit(together)


def _made_up(score: Score, drawn: Drawn, pictures: NDArray[Any]) -> Iterator[Measured]:
    """What is measured, without a model, of the outliers of each kind that are made of pictures."""
    for _, made in every_kind(as_bytes(pictures), stream_seed(drawn.seed, "made up to learn from")):
        own = drawn.preprocessor.statistics(made, made, only=score.weighs)
        yield Measured(None, {name: own[name] for name in score.weighs})
