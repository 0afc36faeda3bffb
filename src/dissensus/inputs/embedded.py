"""The preprocessor of inputs that an embedder turns into vectors: a model reads their whitened components."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import ArtifactError, DataError
from dissensus.inputs.components import Components
from dissensus.inputs.embedders import Embedder, embedder, embedder_to_config
from dissensus.inputs.embedders.batches import TRIED, embed_all, settled_batch
from dissensus.inputs.pictures import PicturePreprocessor
from dissensus.inputs.preprocessor import Prepared, Preprocessor
from dissensus.inputs.rows import RowPreprocessor
from dissensus.inputs.standardiser import FARTHEST, LEARNT, Standardiser
from dissensus.inputs.surroundings import Surroundings
from dissensus.inputs.tables import Table
from dissensus.inputs.things import Things, records

__all__ = ["EmbeddedInputs", "EmbeddedPreprocessor", "embed_inputs", "fit_embedded", "restore_embedded"]


@dataclass(frozen=True)
class EmbeddedPreprocessor(Preprocessor):
    """Pictures, rows of numbers, rows of a table or a list of anything, as vectors of D numbers each."""

    pictured: ClassVar[bool] = False

    given: PicturePreprocessor | RowPreprocessor | Things
    """What inputs are before they are embedded."""
    embedder: Embedder
    described: Mapping[str, Any]
    """The embedder's name, arguments and digest."""
    batch: int
    """How many inputs the embedder is given in a call."""
    components: Components
    """What becomes of a vector."""
    standardiser: Standardiser
    """Of the components and the residual, so that they are whitened."""
    surroundings: Surroundings | None = None
    """Components of training vectors, kept to measure how near they are; None: none is kept."""

    @property
    def shape(self) -> tuple[int, ...]:  # type: ignore[override]
        """The shape of one input, as it is given."""
        return self.given.shape

    @property
    def resize(self) -> tuple[int, int] | None:  # type: ignore[override]
        """The height and width that picture files are brought to."""
        return self.given.resize

    @property
    def id_column(self) -> str | None:  # type: ignore[override]
        """The column that named the training rows of a table."""
        return self.given.id_column

    @property
    def seen(self) -> tuple[int, ...]:
        """The shape of what the model reads: (K,), or (K + 1,) with the residual."""
        return self.standardiser.mean.shape

    @property
    def kind(self) -> str:
        """``images``, ``vectors``, ``table``, or ``objects`` for a list of anything."""
        return self.given.kind

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of a table's own columns."""
        return self.given.feature_names

    @property
    def columns(self) -> tuple[str, ...]:
        """The principal components of the vectors, and the residual."""
        return self.components.names

    def contract(self) -> dict[str, Any]:
        """Kind, shape, types and ranges of what is given."""
        return self.given.contract()

    def steps(self) -> list[dict[str, Any]]:
        """Return the steps in order: resized if asked for, embedded, projected, standardised, cut off."""
        resize = [] if self.resize is None else [{"step": "resize", "to": list(self.resize)}]
        embed = {"step": "embed", "by": self.described["embedder"]}
        project = {"step": "project", "numbers": len(self.components.names)}
        clip = {"step": "clip", "to": [-FARTHEST, FARTHEST]}
        return [*resize, embed, project, {"step": "standardise"}, clip]

    def read(self, inputs: Any) -> Prepared:
        """Return the inputs, checked as whatever was given: pictures, rows or objects."""
        return self.given.read(inputs)

    def transform(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return components and residual of the vectors, in deviations from the mean, as float32.

        What an embedder gives that is no number lies as far out as can be; of a blank input there is none.
        """
        things = array.dtype == object
        blank = np.array([things and thing is None for thing in array], dtype=bool)
        found = np.zeros((len(array), *self.seen), np.float32)
        if not blank.all():
            vectors = embed_all(self.embedder, array[~blank], self.batch)
            if vectors.shape[1:] != self.components.mean.shape:
                raise DataError(
                    f"the embedder {self.described['embedder']} gives {vectors.shape[1]} numbers, and gave "
                    f"{len(self.components.mean)} when the detector was fitted"
                )
            projected = self.components(vectors)
            found[~blank] = self.standardiser(np.where(np.isnan(projected), np.inf, projected))
        return found

    def shown(self, array: NDArray[Any], data: NDArray[Any]) -> NDArray[Any]:
        """Return the components and the residual, which is what a person is shown."""
        return self.inverse(data, array.dtype)

    def inverse(self, seen: NDArray[np.float32], dtype: np.dtype[Any]) -> NDArray[Any]:  # noqa: ARG002
        """Return components in their own units."""
        return self.standardiser.mean + self.standardiser.scale * seen

    @property
    def clip(self) -> float | None:
        """Values are cut off at ten deviations, as those of rows are."""
        return LEARNT

    @property
    def wide(self) -> bool:
        """Whether the training rows that are kept were whitened together."""
        return self.surroundings is not None and self.surroundings.whitening is not None

    @property
    def statistic_names(self) -> tuple[str, ...]:
        """The names of statistics by distance to training vectors, if these are kept."""
        return () if self.surroundings is None else self.surroundings.NAMES

    def statistics(
        self,
        array: NDArray[Any],
        seen: NDArray[Any],
        *,
        only: Collection[str] | None = None,  # noqa: ARG002 they are made together
    ) -> dict[str, NDArray[np.float64]]:
        """How near, how dense and how probable the training vectors make an input (N,), if they are kept."""
        return {} if self.surroundings is None else self.surroundings.of(self.inverse(seen, array.dtype))

    def without_training_inputs(self) -> EmbeddedPreprocessor:
        """Return the same without what is kept of them."""
        return replace(self, surroundings=None)

    def made_up(self, count: int, random: np.random.Generator) -> NDArray[Any]:
        """Return normal numbers, as if they were standardised components."""
        return random.normal(size=(count, *self.seen)).astype(np.float32)

    def blank(self, count: int) -> NDArray[Any]:
        """Answer as the preprocessor of the inputs themselves does, before they are embedded."""
        return self.given.blank(count)

    def is_single(self, shape: tuple[int, ...]) -> bool:
        """Answer as the preprocessor of the inputs themselves does, before they are embedded."""
        return self.given.is_single(shape)

    def config(self) -> dict[str, Any]:
        """JSON values."""
        names = self.feature_names
        table = None if names is None else {"id_column": self.id_column, "names": list(names)}
        return super().config() | {"table": table, "embedder": dict(self.described)}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The vectors' mean (D,) and directions (K, D); means and scales of what these make of vectors."""
        return {
            "mean": self.standardiser.mean,
            "scale": self.standardiser.scale,
            "components/mean": self.components.mean,
            "components/directions": self.components.directions,
            **({} if self.surroundings is None else self.surroundings.arrays()),
        }


@dataclass(frozen=True)
class EmbeddedInputs:
    """Inputs with their vectors; to embed them takes long, and is done once however often a fit begins."""

    given: PicturePreprocessor | RowPreprocessor | Things
    embedder: Embedder
    batch: int
    array: NDArray[Any]
    """The inputs as read (N, *S)."""
    vectors: NDArray[np.float64]
    """(N, D)"""


def embed_inputs(
    inputs: NDArray[Any] | Table, embed: object, *, resize: tuple[int, int] | None = None
) -> EmbeddedInputs:
    """Turns inputs that :func:`~dissensus.inputs.streams.training_inputs` gave into vectors.

    The embedder is copied: what becomes of a person's own object afterwards changes no detector.
    """
    own = copy.deepcopy(embed) if isinstance(embed, Embedder) else embedder(embed)
    given: PicturePreprocessor | RowPreprocessor | Things
    if isinstance(inputs, Table):
        given = Things(tuple(inputs.columns), inputs.id_column)
        inputs = records(inputs, tuple(inputs.columns))
    elif inputs.dtype == object:
        given = Things()
    else:
        given = _numbers(inputs.shape[1:], resize)
    batch = settled_batch(own, _made_up(given))
    vectors = embed_all(own, inputs, batch).astype(np.float64)
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        raise DataError(
            f"the embedder gives NaN or infinite values for {(~finite).sum()} of {len(vectors)} inputs, "
            f"first for input {finite.argmin()}; remove or repair them"
        )
    return EmbeddedInputs(given, own, batch, inputs, vectors)


def fit_embedded(
    embedded: EmbeddedInputs, training: NDArray[np.int64], random: np.random.Generator | None = None
) -> tuple[EmbeddedPreprocessor, NDArray[np.float32]]:
    """Learns the components of the vectors ``training``; returns what a model reads of all of them (N, K).

    With ``random``, components of training vectors are kept, or of a random choice if there are many.
    """
    components = Components.fit(embedded.vectors[training])
    projected = components(embedded.vectors)
    standardiser = Standardiser.fit(projected[training])
    own = embedded.embedder
    found = EmbeddedPreprocessor(
        embedded.given, own, embedder_to_config(own), embedded.batch, components, standardiser
    )
    seen = standardiser(projected)
    if random is not None:
        kept = found.inverse(seen[training], embedded.array.dtype)
        own_vectors = embedded.vectors[training]
        found = replace(found, surroundings=Surroundings.of_embedded(own_vectors, components, kept, random))
    return found, seen


def restore_embedded(
    config: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    embed: Embedder,
    standardiser: Standardiser,
    *,
    resize: tuple[int, int] | None,
) -> EmbeddedPreprocessor:
    """Return the preprocessor that a saved gate describes; ``embed`` is the embedder that it names."""
    components = Components(arrays["components/mean"], arrays["components/directions"])
    shapes = components.mean.shape, components.directions.shape[1:]
    numbers = all(a.dtype == np.float64 and np.isfinite(a).all() for a in vars(components).values())
    if not numbers or shapes[0] != shapes[1] or (len(components.names),) != standardiser.mean.shape:
        raise ArtifactError("its components are not those of its model: save the gate again")
    given: PicturePreprocessor | RowPreprocessor | Things
    kind, shape, table = config["input"]["kind"], tuple(config["input"]["shape"]), config["table"]
    if kind == "table" and not shape:
        given = Things(tuple(table["names"]), table["id_column"])
    elif kind == "objects" and not shape:
        given = Things()
    elif (kind, len(shape)) in (("images", 3), ("vectors", 1)):
        given = _numbers(shape, resize)
    else:
        raise ArtifactError("its inputs are of a kind that no embedder takes: save the gate again")
    batch = settled_batch(embed, _made_up(given))
    # By the name that it has there, for a script's own may have moved.
    described = embedder_to_config(embed) | {"embedder": config["embedder"]["embedder"]}
    kept = Surroundings.restore(arrays, columns=len(components.names), projected=len(components.directions))
    return EmbeddedPreprocessor(given, embed, described, batch, components, standardiser, kept)


def _numbers(shape: tuple[int, ...], resize: tuple[int, int] | None) -> PicturePreprocessor | RowPreprocessor:
    """What reads pictures (H, W, C) or rows (D,); the rows' own scale means nothing to an embedder."""
    if len(shape) == 3:
        return PicturePreprocessor(shape, resize)
    return RowPreprocessor(Standardiser(np.zeros(shape), np.ones(shape)))


def _made_up(given: PicturePreprocessor | RowPreprocessor | Things) -> NDArray[Any] | None:
    """Inputs to try an embedder out on; what only the embedder can read, nobody can make up."""
    return None if isinstance(given, Things) else given.made_up(TRIED, np.random.default_rng(0))
