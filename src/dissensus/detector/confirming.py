"""What a person said of inputs that were looked at: some join the calibration, all are remembered.

What is remembered changes no score and no decision. When an input comes again, or one that can hardly be told
from it, it is said what was said of the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import ArtifactError
from dissensus.inputs import Prepared, Preprocessor

__all__ = [
    "CONFIRMED",
    "CONFIRMED_ARRAYS",
    "NORMAL",
    "OUTLIER",
    "Confirmation",
    "Confirmed",
    "nothing_confirmed",
    "restored_confirmed",
    "traits_of",
]

CONFIRMED = "confirmed"
TRAITS, SAID, PLACES = CONFIRMED_ARRAYS = "confirmed/traits", "confirmed/said", "confirmed/places"
NORMAL, OUTLIER = 0, 1  # what was said of an input
NOWHERE = -1
MOST_REMEMBERED = 4096  # inputs; the oldest are forgotten first
MOST_NUMBERS = 1 << 22  # of them all, 16 MiB
GRID = 8  # a picture's blocks, in a row of them
NEAR_ROW = 0.05  # deviations of a column
NEAR_PICTURE = 0.02  # of a block's mean and deviation, where white is 1


class Confirmation(NamedTuple):
    """What became of inputs that were confirmed."""

    joined: int
    """How many became calibration inputs."""
    remembered: int
    """How many were told the gate, those that joined among them."""
    left: int
    """How many are calibration inputs no more, because they turned out to be outliers."""


@dataclass(frozen=True)
class Confirmed:
    """Inputs that people have looked at, the newest last."""

    traits: NDArray[np.float32]
    """(R, F): what an input is recognised by."""
    said: NDArray[np.uint8]
    """(R,): 1 of outliers, 0 of normal inputs."""
    places: NDArray[np.int64]
    """(R,): where an input that joined stands among the calibration inputs; −1 of all others."""
    joined: int
    """How many inputs have joined the calibration since it was last replaced, and have not left it."""
    near: float
    """How far each number of two inputs' traits may lie apart, if they are to be taken for the same."""

    def with_more(
        self, traits: NDArray[np.float32], said: int, joins: NDArray[np.bool_], calibrating: int
    ) -> Confirmed:
        """Return the same with more inputs (n, F), of which those that join come after all that calibrate.

        The oldest are forgotten where there are too many.
        """
        most = min(MOST_REMEMBERED, MOST_NUMBERS // max(1, traits.shape[1]))
        places = np.where(joins, calibrating + np.cumsum(joins) - 1, NOWHERE)
        return Confirmed(
            np.concatenate([self.traits, traits])[-most:],
            np.concatenate([self.said, np.full(len(traits), said, np.uint8)])[-most:],
            np.concatenate([self.places, places])[-most:],
            self.joined + int(joins.sum()),
            self.near,
        )

    def without(self, leaving: NDArray[np.int64]) -> Confirmed:
        """Return the same after the calibration inputs at these places have left."""
        moved = self.places - np.searchsorted(np.sort(leaving), self.places)
        places = np.where(np.isin(self.places, [NOWHERE, *leaving]), NOWHERE, moved)
        return replace(self, places=places, joined=self.joined - len(leaving))

    def with_new_calibration(self) -> Confirmed:
        """Return the same where other inputs calibrate from now on."""
        return replace(self, places=np.full_like(self.places, NOWHERE), joined=0)

    def known(self, traits: NDArray[np.float32]) -> list[str | None]:
        """Return what was said of each input (n, F), the newest first; None of one that is new."""
        if not len(self.traits):
            return [None] * len(traits)
        found: list[str | None] = []
        telling = int(np.ptp(self.traits, axis=0).argmax())  # one number rules most of them out
        for row in traits:
            close = np.flatnonzero(np.abs(self.traits[:, telling] - row[telling]) <= self.near)
            alike = close[(np.abs(self.traits[close] - row) <= self.near).all(axis=1)]
            told = None if not len(alike) else self.said[alike[-1]]
            words = "an outlier" if told == OUTLIER else "normal"
            found.append(None if told is None else f"confirmed as {words} before")
        return found

    def calibrating(self, traits: NDArray[np.float32]) -> list[list[int]]:
        """Return for each input (n, F) where it stands, to the last bit, among the calibration inputs."""
        found: dict[bytes, list[int]] = {}
        for n in np.flatnonzero(self.places != NOWHERE):
            found.setdefault(self.traits[n].tobytes(), []).append(int(self.places[n]))
        return [found.get(row.tobytes(), []) for row in traits]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """As they are saved with a gate."""
        return {TRAITS: self.traits, SAID: self.said, PLACES: self.places}


def traits_of(preprocessor: Preprocessor, inputs: Prepared) -> NDArray[np.float32]:
    """Return what inputs are recognised by (n, F).

    That is a row itself, and of a picture the means and deviations of 8 × 8 blocks of each channel.
    """
    seen = preprocessor.transform(inputs.array)
    if not preprocessor.pictured:
        return np.asarray(seen.reshape(len(seen), -1), dtype=np.float32)
    pixels = seen.astype(np.float32) / (255 if seen.dtype == np.uint8 else 1)
    rows, columns = (_edges(side) for side in pixels.shape[1:3])
    blocks = [
        [pixels[:, top:bottom, left:right] for left, right in pairwise(columns)]
        for top, bottom in pairwise(rows)
    ]
    numbers = [
        of.mean(axis=(1, 2)) if mean else of.std(axis=(1, 2))
        for mean in (True, False)
        for row in blocks
        for of in row
    ]
    return np.concatenate(numbers, axis=1).astype(np.float32)


def nothing_confirmed(preprocessor: Preprocessor, traits: NDArray[np.float32]) -> Confirmed:
    """Return what a gate remembers before anything was confirmed."""
    near = NEAR_PICTURE if preprocessor.pictured else NEAR_ROW
    return Confirmed(traits[:0], np.zeros(0, np.uint8), np.zeros(0, np.int64), 0, near)


def restored_confirmed(
    config: Mapping[str, Any] | None,
    arrays: Mapping[str, NDArray[Any]],
    preprocessor: Preprocessor,
    calibrating: int,
) -> Confirmed | None:
    """The inverse of what is saved; what no confirmation could have left is an ArtifactError."""
    there = {config is not None, *(name in arrays for name in CONFIRMED_ARRAYS)}
    if len(there) > 1:
        raise ArtifactError("what was confirmed is not there as a whole: save the gate again")
    if config is None:
        return None
    traits, said, places, joined = arrays[TRAITS], arrays[SAID], arrays[PLACES], config["joined"]
    whole = (
        traits.ndim == 2
        and traits.dtype == np.float32
        and traits.shape[1] == _traits_size(preprocessor)
        and len(traits) <= MOST_REMEMBERED
        and traits.size <= MOST_NUMBERS
        and bool(np.isfinite(traits).all())
        and said.shape == places.shape == (len(traits),)
        and said.dtype == np.uint8
        and places.dtype == np.int64
        and bool((said <= OUTLIER).all())
        and _could_be(places[places != NOWHERE], calibrating)
        and type(joined) is int
        and 0 <= (places != NOWHERE).sum() <= joined <= calibrating
    )
    if not whole:
        raise ArtifactError("what it remembers as confirmed is not of its inputs: save the gate again")
    return replace(
        nothing_confirmed(preprocessor, traits), traits=traits, said=said, places=places, joined=joined
    )


def _could_be(places: NDArray[np.int64], calibrating: int) -> bool:
    """Whether they are places of different calibration inputs."""
    return len(np.unique(places)) == len(places) and bool(((places >= 0) & (places < calibrating)).all())


def _traits_size(preprocessor: Preprocessor) -> int:
    if not preprocessor.pictured:
        return int(np.prod(preprocessor.seen))
    height, width, channels = preprocessor.shape
    return 2 * channels * min(GRID, height) * min(GRID, width)


def _edges(side: int) -> list[int]:
    count = min(GRID, side)
    return [round(place * side / count) for place in range(count + 1)]
