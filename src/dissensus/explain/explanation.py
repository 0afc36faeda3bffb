r"""Why an input got its score: where the draws disagree, what they see instead, and what is most like it.

The disagreement about an image is mapped by the standard deviation over draws m of each pixel's own part of
the log-likelihood, in nats,

.. math:: \operatorname{std}_m \log p(x_d \mid z_m, θ_m), \qquad z_m = \mathrm{E}\,q(z \mid x, φ_m):

where it is large, some draws expected what is there and others did not. Of a row, each column gets the part
of the score that vanishes once it is set to its training mean, written x∖d,

.. math:: \max(0, s(x) - s(x∖d)),

where the score s adds up nats, as the fused one does. Scores that no absurd value can raise further tell no
column, and the spread of the draws takes their place, :math:`\operatorname{std}_m \log p(x \mid θ_m)`. The
terms of each column would not do, because columns depend on each other: one absurd value pulls the code away,
and the columns linked to it would be the ones that do not fit. A model that does not tell its terms is asked
about a picture in the same way, by the spread: x∖d is the picture with patch d of an 8 × 8 grid set to its
mean colour.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.decisions import rounded
from dissensus.explain.plot import figure_of
from dissensus.explain.words import in_words
from dissensus.inputs import Cell
from dissensus.likelihood.workspace import Weights, workspace
from dissensus.models import GenerativeModel, LatentModel
from dissensus.models.inputs import by_place, channels_last, occluded
from dissensus.posterior import WeightDraws
from dissensus.scores import SCORES, Measured, Score, score, scored
from dissensus.torch_threads import torch_threads

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "Decision",
    "Explanation",
    "Standing",
    "Views",
    "occlusion",
    "standing",
    "statistics_of",
    "views",
]

TILE = 32  # inputs decoded in one call
LISTED = 10  # places of the largest disagreement that a summary names


class Decision(NamedTuple):
    """What the detector says about one input; a higher score is more unusual."""

    score: float
    p_value: float
    flagged: bool


class Standing(NamedTuple):
    """A statistic of an input, and how it stands among the calibration inputs."""

    value: float
    """Higher = more unusual; of encodings, codes and likelihoods a very low one can be unusual too."""
    percentile: float
    """Per cent of the calibration inputs with a lower value; NaN where theirs were not kept."""


@dataclass(frozen=True, repr=False)
class Explanation:
    """What there is to show about one input (H, W, C) or (D,)."""

    decision: Decision
    input: NDArray[Any]
    disagreement: NDArray[np.float64]
    """(H, W) or (D,), in nats: the disagreement at each pixel or patch, or what each column causes.

    Of a fused score that is a part of the score, of other scores a part of the draws' disagreement."""
    reconstructions: NDArray[Any]
    """(R, H, W, C) or (R, D), in the input's units: the input as R of the draws see it."""
    neighbours: NDArray[Any]
    """(k, H, W, C) or (k, D): the training inputs nearest in latent space, nearest first."""
    neighbour_distances: NDArray[np.float64]
    """(k,), in latent units: 1 is a standard deviation of the prior."""
    statistics: Mapping[str, Standing]
    """By name, as in ``dissensus.scores.SCORES`` and ``dissensus.models.OBSERVED``."""
    columns: tuple[str, ...] | None = None
    """The names of a table's columns, if they are known."""
    surprises: Mapping[str, float] = field(default_factory=dict)
    """Of a score that is made of parts: how unusual each is by itself, −log p in nats, largest first."""
    pictured: bool = False
    """Whether it is shown as a picture (H, W, C) rather than as columns (D,)."""
    notes: tuple[str, ...] = ()
    """What no training input had, in words, such as "country: Mars, never seen"."""
    cells: tuple[Cell, ...] = ()
    """Of a table's row, its columns as they are in the table, that which causes most first."""
    known: str | None = None
    """What a person said before of it, or of one that can hardly be told from it."""

    def __str__(self) -> str:
        return in_words(self)

    def __repr__(self) -> str:
        return f"<Explanation: {in_words(self)}>"

    def plot(self) -> Figure:
        """Draw it: a picture beside where the draws disagree, or a row's columns (extra ``report``)."""
        return figure_of(self)

    @property
    def ranking(self) -> NDArray[np.int64]:
        """Pixels (counted row by row) or columns, from the largest disagreement to the smallest."""
        return np.argsort(-self.disagreement.ravel(), kind="stable")

    def to_dict(self) -> dict[str, Any]:
        """A summary of JSON values: no pictures, and of the map the ten largest places."""
        return {
            "score": _number(self.decision.score),
            "p_value": self.decision.p_value,
            "flagged": self.decision.flagged,
            "notes": list(self.notes),
            "known": self.known,
            "statistics": {
                name: {"value": _number(value), "percentile": _number(percentile)}
                for name, (value, percentile) in self.statistics.items()
            },
            "surprises": dict(self.surprises),
            "disagreement": [self._place(int(place)) for place in self.ranking[:LISTED]],
            "cells": [{**cell._asdict(), "nats": _number(cell.nats)} for cell in self.cells],
            "neighbour_distances": [float(distance) for distance in self.neighbour_distances],
        }

    def _place(self, place: int) -> dict[str, Any]:
        nats = _number(float(self.disagreement.flat[place]))
        if self.pictured:
            row, column = divmod(place, self.disagreement.shape[1])
            return {"row": row, "column": column, "nats": nats}
        name = place if self.columns is None else self.columns[place]
        return {"column": name, "value": float(self.input[place]), "nats": nats}


class Views(NamedTuple):
    """Where the draws disagree about N inputs, and what each rebuilds."""

    disagreement: NDArray[np.float64]
    """(N, H, W) or (N, D), in nats."""
    reconstructions: NDArray[np.float32]
    """(N, R, H, W, C) or (N, R, D), as the networks give them: pixels in [0, 1], standardised columns."""


def views(
    model: GenerativeModel,
    draws: WeightDraws,
    data: Tensor,
    *,
    reconstructions: int,
    device: torch.device | str = "cpu",
) -> Views:
    """Measure where draws disagree about inputs ``data`` (N, *S), and what each rebuilds.

    The R draws that reconstruct are spread evenly over all of them, and so over the chains. A model that
    tells no terms, or does not reconstruct, has zeros for the first, and none of the second.
    """
    device = torch.device(device)
    shown = _spread(len(draws), reconstructions) if isinstance(model, LatentModel) else ()
    maps, pictures = [], []
    # One thread: tiles are too small to be divided.
    with workspace(model, device) as own, torch.inference_mode(), torch_threads(1):
        weights = Weights(own, draws, device)
        for start in range(0, len(data), TILE):
            tile = own.read(data[start : start + TILE].to(device))
            terms: list[Tensor] = [torch.zeros(())] * len(draws)
            means: dict[int, Tensor] = {}
            for group in draws.sharing(own.inference):
                weights.load(int(group[0]), own.inference)
                inferred = own.infer(tile)
                for draw in group.tolist():
                    weights.load(draw)
                    told = own.observe(tile, inferred).get("terms", torch.zeros_like(tile)).double()
                    terms[draw] = by_place(told)
                    if draw in shown and isinstance(own, LatentModel):
                        means[draw] = channels_last(own.reconstruct(tile, inferred))
            maps.append(torch.stack(terms).std(0, correction=0).cpu().numpy())
            empty = channels_last(tile)[:, None][:, :0]
            seen = torch.stack([means[draw] for draw in shown], dim=1) if shown else empty
            pictures.append(seen.float().cpu().numpy())
    return Views(np.concatenate(maps), np.concatenate(pictures))


def occlusion(data: Tensor, unusual: Callable[[Tensor], NDArray[np.float64]]) -> NDArray[np.float64]:
    """How much of what is unusual each column of standardised rows (N, D), or patch of pictures, causes.

    In nats: (N, D), or of pictures (N, C, H, W) their maps (N, H, W), where all pixels of a patch have what
    the patch causes. ``unusual`` gives the disagreement or the score (n,) of any inputs (n, *S).
    """
    maps = []
    for x in data:
        without, places = occluded(x)
        found = unusual(torch.cat([x[None], without]))
        maps.append(np.maximum(found[0] - found[1:], 0)[places])
    return np.stack(maps)


def statistics_of(measured: Measured, own: Score) -> dict[str, NDArray[np.float64]]:
    """Return every statistic (N,) of what was measured, by name: the detector's own score comes first.

    Its parts, if it has any, follow, then the scores of the package that need not be fitted, as far as what
    they require was measured, and all other statistics. The detector's own is rounded, as decisions need it.

    >>> list(statistics_of(Measured(np.zeros((1, 3))), score("mixture-ll")))
    ['mixture-ll', 'mean-ll']
    """
    found = {own.name: rounded(scored(own, measured)), **own.parts(measured)}
    for name in SCORES:
        other = score(name)
        ready = measured.draws >= other.least_draws and set(other.requires) <= set(measured.names)
        if name not in found and ready and not other.learns:
            found[name] = other(measured)
    return found | {name: values for name, values in measured.statistics.items() if name not in found}


def standing(value: float, calibration: NDArray[np.float64] | None) -> Standing:
    """Where a value stands among those of the calibration inputs (n,).

    >>> standing(2.5, np.array([1.0, 2.0, 3.0, 4.0]))
    Standing(value=2.5, percentile=50.0)
    """
    if calibration is None or not len(calibration):
        return Standing(float(value), math.nan)
    return Standing(float(value), float(100 * np.mean(calibration < value)))


def _spread(count: int, wanted: int) -> Sequence[int]:
    """``wanted`` of the numbers below ``count``, evenly spread, or all of them."""
    places = np.linspace(0, count - 1, min(wanted, count))
    return sorted({round(place) for place in places.tolist()})


def _number(value: float) -> float | None:
    """Return the number, or None for infinity and NaN, which JSON does not have."""
    return float(value) if math.isfinite(value) else None
