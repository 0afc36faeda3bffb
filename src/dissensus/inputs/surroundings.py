r"""What the training rows tell of a row without any model: how near, how dense and how probable it is.

- ``nearest``: the logarithm of the distance to the nearest training row;
- ``isolation``: that of the mean distance to the ten nearest, over the mean of the same number for each of
  these ten, so that what is usual in a thin region is unusual in a dense one;
- ``gaussians``: −log of the density by Gaussians.

Higher is more unusual in all three. Rows of at most 64 numbers are measured in standardised columns, and the
density is a mixture's. Longer ones are measured in unscaled columns that are whitened together (embeddings
lose where each column gets a scale of its own), in at most 64 directions and by the length of the rest; the
density is that of one Gaussian, which makes it half the squared Mahalanobis distance. What pictures look like
from afar (:mod:`dissensus.inputs.textures`) is measured so too, but not whitened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import ArtifactError
from dissensus.inputs.components import MOST, Components
from dissensus.inputs.gaussians import PARTS, Gaussians
from dissensus.inputs.neighbours import Neighbours, summed
from dissensus.inputs.whitening import Whitening

__all__ = ["SURROUNDINGS", "Surroundings", "is_wide"]

FOLDER = "surroundings/"
SURROUNDINGS = {
    "nearest": "how far the nearest training input is",
    "isolation": "how much further its neighbours are than theirs",
    "gaussians": "how rare it is by Gaussians around the training inputs",
}
"""The statistics, and what they say."""
MOST_ROWS = 20_000  # kept
NEIGHBOURS = 10
TOUCHING = 1e-6  # distances below count as this one, for the logarithm of none is no number
MOST_LEARNT = 4096  # rows that directions are learnt from


def is_wide(columns: int) -> bool:
    """Return whether rows of so many numbers are whitened together rather than each column by itself."""
    return columns > MOST


@dataclass(frozen=True)
class Surroundings:
    """Training rows in the space where distances are measured, and what was learnt of them."""

    NAMES: ClassVar[tuple[str, ...]] = tuple(SURROUNDINGS)

    rows: NDArray[np.float32]
    """(R, K), all different."""
    spacing: NDArray[np.float64]
    """The mean distance (R,) of each to the others nearest to it."""
    gaussians: Gaussians | None = None
    """Of standardised columns."""
    whitening: Whitening | None = None
    """Of components and residual."""
    lengths: NDArray[np.float32] | None = None
    """Of whitened rows (R,): the squared length of what their components leave over."""
    components: Components | None = None
    """Of rows that nothing else has projected."""

    @classmethod
    def of_columns(cls, seen: NDArray[np.float32], random: np.random.Generator) -> Surroundings:
        """Learns from training rows (n, D) of at most 64 standardised columns."""
        rows = _kept(seen, random)
        gaussians = Gaussians.fit(seen, len(rows), random)
        return cls(rows, _spacing(rows, np.zeros(len(rows), np.float32)), gaussians=gaussians)

    @classmethod
    def of_vectors(
        cls, vectors: NDArray[np.float64], random: np.random.Generator, *, whitened: bool = True
    ) -> Surroundings:
        """Learns from long training rows (n, D) as they are given.

        ``whitened`` says whether distances are those of whitened rows, or of the rows themselves.
        """
        some = vectors[np.sort(random.permutation(len(vectors))[:MOST_LEARNT])]
        components = Components.fit(some, rows_each=1)
        whitening = Whitening.fit(some, components) if whitened else Whitening.none(components)
        return cls._of_whitened(components(_few(vectors, random)), whitening, random, components)

    @classmethod
    def of_embedded(
        cls,
        vectors: NDArray[np.float64],
        components: Components,
        seen: NDArray[np.float64],
        random: np.random.Generator,
    ) -> Surroundings:
        """Learns from training vectors (n, D), and from what became of them: components and residual."""
        some = np.sort(random.permutation(len(vectors))[:MOST_LEARNT])
        return cls._of_whitened(seen, Whitening.fit(vectors[some], components), random)

    @classmethod
    def _of_whitened(
        cls,
        projected: NDArray[np.float64],
        whitening: Whitening,
        random: np.random.Generator,
        components: Components | None = None,
    ) -> Surroundings:
        points, lengths = whitening(projected)
        both = _kept(np.concatenate([points, lengths[:, None]], axis=1), random)
        rows, lengths = np.ascontiguousarray(both[:, :-1]), np.ascontiguousarray(both[:, -1])
        spacing = _spacing(rows, lengths)
        return cls(rows, spacing, whitening=whitening, lengths=lengths, components=components)

    def of_rows(self, array: NDArray[Any], seen: NDArray[np.float32]) -> dict[str, NDArray[np.float64]]:
        """Statistics (N,) of rows as given (N, D), and as a model reads them."""
        return self.of(seen if self.components is None else self.components(array))

    def of(self, values: NDArray[np.floating]) -> dict[str, NDArray[np.float64]]:
        """Statistics (N,) of standardised columns, or of components with their residual."""
        if self.whitening is None:
            points, lengths = values.astype(np.float32), np.zeros(len(values), np.float32)
        else:
            points, lengths = self.whitening(values)
        count = min(NEIGHBOURS, len(self.rows))
        squares, places = self._neighbours.find(points, count, lengths)
        distances = np.sqrt(squares) + TOUCHING
        theirs = summed(self.spacing[places.T]) / count + TOUCHING
        if self.gaussians is not None:
            rarity = self.gaussians(points)
        else:
            rarity = 0.5 * (lengths + summed(np.square(points.T.astype(np.float64))))
        return {
            "nearest": np.log(distances[:, 0]),
            "isolation": np.log(summed(distances.T) / count) - np.log(theirs),
            "gaussians": rarity,
        }

    @cached_property
    def _neighbours(self) -> Neighbours:
        lengths = np.zeros(len(self.rows), np.float32) if self.lengths is None else self.lengths
        return Neighbours(self.rows, lengths)

    # ---- saved with the gate

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it, by name."""
        found: dict[str, NDArray[Any]] = {"rows": self.rows, "spacing": self.spacing}
        for part in (self.gaussians, self.whitening):
            found |= {} if part is None else vars(part)
        if self.lengths is not None:
            found["lengths"] = self.lengths
        if self.components is not None:
            found |= vars(self.components)
        return {f"{FOLDER}{name}": array for name, array in found.items()}

    @classmethod
    def restore(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        *,
        columns: int,
        projected: int | None,
        pictured: bool = False,
    ) -> Surroundings | None:
        """The inverse of :meth:`arrays`, or None where there are none; what no fit left is an ArtifactError.

        ``columns`` is how many numbers there are of an input. ``projected`` says of embedded inputs how many
        of these are components; it is None of rows. Those of pictures are whitened, however few they are.
        """
        own = {name.removeprefix(FOLDER): a for name, a in arrays.items() if name.startswith(FOLDER)}
        if not own:
            return None
        names = {"rows", "spacing"}
        wide = pictured or projected is not None or is_wide(columns)
        names |= {"scales", "noise", "lengths"} if wide else {"log_weights", "means", "whiteners"}
        names |= {"mean", "directions"} if wide and projected is None else set()
        if set(own) != names or not _fit_together(own, columns, projected):
            raise ArtifactError(
                "the training rows that it keeps are not those of its inputs: save the gate again"
            )
        if not wide:
            parts = Gaussians(own["log_weights"], own["means"], own["whiteners"])
            return cls(own["rows"], own["spacing"], gaussians=parts)
        return cls(
            own["rows"],
            own["spacing"],
            whitening=Whitening(own["scales"], own["noise"]),
            lengths=own["lengths"],
            components=Components(own["mean"], own["directions"]) if projected is None else None,
        )


def _fit_together(own: Mapping[str, NDArray[Any]], columns: int, projected: int | None) -> bool:
    """Whether arrays are of the types, sizes and ranges that a fit leaves."""
    singles = {"rows", "lengths"}
    rows = own["rows"]
    if rows.ndim != 2 or not 0 < len(rows) <= MOST_ROWS or not 0 < rows.shape[1] <= MOST:
        return False
    R, K = rows.shape
    k = len(own["log_weights"]) if "log_weights" in own and own["log_weights"].ndim == 1 else 0
    if "scales" not in own:
        left, sound = 0, columns == K and 0 < k <= PARTS
    elif projected is None:
        left, sound = int(columns > K), True
    else:
        left, sound = columns - projected, projected == K
    shapes = {
        "rows": (R, K),
        "spacing": (R,),
        "lengths": (R,),
        "log_weights": (k,),
        "means": (k, K),
        "whiteners": (k, K, K),
        "scales": (K,),
        "noise": (left,),
        "mean": (columns,),
        "directions": (K, columns),
    }
    return sound and all(
        array.shape == shapes[name]
        and array.dtype == (np.float32 if name in singles else np.float64)
        and bool(np.isfinite(array).all())
        and (name not in ("spacing", "lengths") or bool((array >= 0).all()))
        and (name not in ("scales", "noise") or bool((array > 0).all()))
        for name, array in own.items()
    )


def _few(rows: NDArray[Any], random: np.random.Generator) -> NDArray[Any]:
    """At most as many rows as are kept, in their order."""
    return rows if len(rows) <= MOST_ROWS else rows[np.sort(random.permutation(len(rows))[:MOST_ROWS])]


def _kept(rows: NDArray[np.float32], random: np.random.Generator) -> NDArray[np.float32]:
    """The different ones among rows (n, K), or a random choice of them.

    Of a row that is there twice one is kept: neighbours at no distance at all say nothing of a scale.
    """
    _, first = np.unique(rows, axis=0, return_index=True)
    return np.ascontiguousarray(_few(rows[np.sort(first)], random))


def _spacing(rows: NDArray[np.float32], lengths: NDArray[np.float32]) -> NDArray[np.float64]:
    """The mean distance (R,) of each row to its neighbours, itself left out."""
    count = min(NEIGHBOURS, len(rows) - 1)
    if not count:
        return np.zeros(len(rows))
    squares, _ = Neighbours(rows, lengths).find(rows, count, lengths, without=np.arange(len(rows)))
    return np.asarray(summed(np.sqrt(squares).T) / count)
