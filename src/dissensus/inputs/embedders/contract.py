"""The contract of embedders: from a batch of whatever a person has to vectors (N, D)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

from dissensus.own_code import arguments_of

__all__ = ["Embedder"]


class Embedder(ABC):
    """Turns inputs into vectors, each by itself: an input's vector must not depend on the others.

    A batch of pictures is uint8 (n, C, H, W), in whichever form they were given (fractions are rounded); a
    batch of rows is float64 (n, D). A batch of anything else is a list; of the rows of a table, a list of
    mappings from column to value (what a CSV file holds are texts).

    What the constructor takes is kept in the gate, so it must be JSON values. Plain functions, torch modules
    and ONNX files need no class: ``Detector(embed=…)`` takes them as they are.
    """

    batch: int = 1
    """How many inputs a call is given, always; short batches are filled up. A number above 1 is tried out on
    made-up pictures or rows: where an input's bits depend on its place, it is 1 after all. Of anything else
    it is believed."""
    parallel: bool = False
    """Whether several threads may call it at once to embed one set of inputs. A service with several workers
    calls every embedder from several threads."""

    @abstractmethod
    def __call__(self, batch: Any, /) -> Any:
        """Return the vectors (n, D) of n inputs, as an array or a tensor."""

    def config(self) -> dict[str, Any]:
        """Return the constructor's arguments as JSON values. By default: attributes of the same names."""
        return arguments_of(self)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Return an embedder with the arguments that ``config`` gave."""
        return cls(**config)

    def digest(self) -> str | None:
        """Return the SHA-256 of its weights, by which a gate knows them again. By default there are none."""
        return None

    @property
    def code(self) -> Any:
        """Return the class or function that a gate names."""
        return type(self)
