"""The contract of preprocessors: from what a person has to what a model reads, and back for display."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError
from dissensus.inputs.cell import Cell
from dissensus.inputs.columns import Column

if TYPE_CHECKING:  # decoders of pictures start without torch
    import torch

__all__ = ["Prepared", "Preprocessor"]


@dataclass(frozen=True)
class Prepared:
    """Inputs that a preprocessor has read and checked; every method of its detector takes them as such."""

    array: NDArray[Any]
    """(n, *S); what stands in those with problems means nothing."""
    problems: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    """Position → column, or "" for the input as a whole → why it cannot be scored."""
    notes: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """Position → what no training input had, in words, such as "country: Mars, never seen"."""

    def __len__(self) -> int:
        return len(self.array)

    @property
    def reasons(self) -> dict[int, str]:
        """By position, why an input cannot be scored, in one sentence."""
        return {position: "; ".join(cells.values()) for position, cells in sorted(self.problems.items())}

    def usable(self) -> Prepared:
        """Return the positions of inputs without problems, in order."""
        if not self.problems:
            return self
        kept = [position for position in range(len(self)) if position not in self.problems]
        notes = {new: self.notes[old] for new, old in enumerate(kept) if old in self.notes}
        return Prepared(self.array[kept], {}, notes)

    def alone(self, position: int) -> Prepared:
        """Return one of the inputs, copied: a view would keep all others in memory."""
        notes = {0: self.notes[position]} if position in self.notes else {}
        return Prepared(self.array[position : position + 1].copy(), {}, notes)

    def refuse_problems(self, names: Sequence[str | int]) -> None:
        """Raises an error that names every problem column once, with the first row where it is wrong."""
        told: set[str] = set()
        parts = []
        for position, cells in sorted(self.problems.items()):
            new = [reason for column, reason in cells.items() if column not in told]
            told |= set(cells)
            if new:
                parts.append(f"at {_called(names[position])}: {'; '.join(new)}")
        if parts:
            raise DataError(f"X cannot be scored {'; '.join(parts)}")


class Preprocessor(ABC):
    """What a fit learnt about its inputs before any model sees them; the only thing that knows their kind.

    :func:`~dissensus.inputs.preprocessing.fit_preprocessor` learns one, it is saved with the gate, and every
    way in goes through the same one: ``read`` checks what a person gave, ``transform`` makes of that what a
    model reads, ``inverse`` turns what a model gives back into the inputs' units.
    """

    pictured: ClassVar[bool]
    """Whether inputs are shown as pictures rather than as columns."""
    shape: tuple[int, ...]
    """S: (H, W, C) of a picture, (D,) of a row."""
    resize: tuple[int, int] | None = None
    """(height, width) that picture files are brought to."""
    id_column: str | None = None
    """The column that named the training rows of a table."""

    # ---- what inputs are

    @property
    @abstractmethod
    def kind(self) -> str:
        """``images``, ``vectors``, ``table`` for rows of named columns; if embedded, also ``objects``."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of a table's own columns."""
        return None

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of the D numbers that a row becomes, if they have any."""
        return None

    @property
    def seen(self) -> tuple[int, ...]:
        """The shape of what a model reads of one input, channels last; only embedded inputs have another."""
        return self.shape

    @property
    def n_features(self) -> int:
        """How many values a person gives for one input."""
        return int(np.prod(self.shape)) if self.feature_names is None else len(self.feature_names)

    @abstractmethod
    def contract(self) -> dict[str, Any]:
        """Kind and shape of one input, and the types it may have with the range of their values."""

    @abstractmethod
    def steps(self) -> list[dict[str, Any]]:
        """The steps from an input to the networks, in order, in words."""

    @property
    def table_columns(self) -> Sequence[tuple[Column, slice]]:
        """The columns whose values a person can compare, each with its place among the numbers of a row."""
        return ()

    def cells(
        self,
        row: NDArray[Any],  # noqa: ARG002
        nats: NDArray[np.float64],  # noqa: ARG002
        expected: NDArray[Any],  # noqa: ARG002
        nearest: NDArray[Any],  # noqa: ARG002
        notes: Sequence[str],  # noqa: ARG002
    ) -> tuple[Cell, ...]:
        """Return a table's row (D,) in its own words, as :func:`~dissensus.inputs.cell.cells_of` does.

        Nothing where inputs are no rows of a table.
        """
        return ()

    # ---- from a person to a model, and back

    @abstractmethod
    def read(self, inputs: Any) -> Prepared:
        """Return checked inputs (n, *S) of an array, a tensor, nested lists or a :class:`Table`."""

    @abstractmethod
    def transform(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return what a model reads, channels last, of inputs that were read before."""

    @abstractmethod
    def inverse(self, seen: NDArray[np.float32], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return what a model gave in the units of inputs of type ``dtype``, to be shown beside them."""

    def shown(self, array: NDArray[Any], data: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG002
        """Return what explanations show of inputs, which ``transform`` made ``data`` of: the inputs."""
        return array

    @property
    def clip(self) -> float | None:
        """How far out, in deviations, a value may be where networks learn from it; None: it has bounds."""
        return None

    # ---- what can be done without a model

    @property
    def wide(self) -> bool:
        """Whether inputs are long rows or embeddings, which are compared in columns whitened together."""
        return False

    @property
    def statistic_names(self) -> tuple[str, ...]:
        """The names of the statistics that inputs have without a model."""
        return ()

    def statistics(
        self,
        array: NDArray[Any],  # noqa: ARG002
        seen: NDArray[Any],  # noqa: ARG002
        *,
        only: Collection[str] | None = None,  # noqa: ARG002
    ) -> dict[str, NDArray[np.float64]]:
        """Statistics (N,) by name, of inputs that were read before and of what ``transform`` made of them.

        ``only`` names those that are wanted, if not all are; others may be given, too.
        """
        return {}

    def statistics_on(
        self,
        device: torch.device,  # noqa: ARG002
        array: NDArray[Any],
        seen: NDArray[Any],
        *,
        only: Collection[str] | None = None,
    ) -> dict[str, NDArray[np.float64]]:
        """The same for a gate on some device, which may help: last bits may then be other ones."""
        return self.statistics(array, seen, only=only)

    def without_training_inputs(self) -> Preprocessor:
        """Return the same without training inputs, and without the statistics that take them."""
        return self

    @abstractmethod
    def made_up(self, count: int, random: np.random.Generator) -> NDArray[Any]:
        """Return what a model reads of so many made-up inputs, to try out what depends on the shape alone."""

    @abstractmethod
    def blank(self, count: int) -> NDArray[Any]:
        """Return so many inputs (n, *S) of zeros."""

    def is_single(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of this shape is one input rather than a batch."""
        return shape == self.shape

    # ---- saved with the gate

    def config(self) -> dict[str, Any]:
        """JSON values."""
        return {"input": self.contract(), "preprocessing": self.steps(), "table": None}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What it learnt in numbers, by name."""
        return {}


def _called(name: str | int) -> str:
    return f"row {name}" if isinstance(name, int) else name
