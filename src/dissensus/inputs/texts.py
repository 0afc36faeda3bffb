"""The preprocessor of texts that a vocabulary divides into symbols: a model reads the symbols' numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError
from dissensus.inputs.embedders import Vocabulary, embedder_to_config
from dissensus.inputs.preprocessor import Prepared, Preprocessor
from dissensus.inputs.things import Things, as_things

__all__ = ["TextPreprocessor"]


@dataclass(frozen=True)
class TextPreprocessor(Preprocessor):
    """A list of texts, as rows of symbols."""

    pictured: ClassVar[bool] = False

    vocabulary: Vocabulary
    shape: tuple[int, ...] = ()

    @property
    def kind(self) -> str:
        """``objects``: a list."""
        return "objects"

    @property
    def seen(self) -> tuple[int, ...]:
        """The shape of what the model reads: L places of symbols."""
        return (self.vocabulary.length,)

    @property
    def n_features(self) -> int:
        """How many values are given for one input: a text is one."""
        return 1

    @property
    def columns(self) -> tuple[str, ...]:
        """The places of a sequence."""
        return tuple(f"symbol {place + 1}" for place in range(self.vocabulary.length))

    def contract(self) -> dict[str, Any]:
        """Kind and shape, as of any list."""
        return Things().contract()

    def steps(self) -> list[dict[str, Any]]:
        """Divided into symbols."""
        return [{"step": "divide", "by": self.vocabulary.by, "symbols": len(self.vocabulary.symbols)}]

    def read(self, inputs: Any) -> Prepared:
        """Texts (n,); those with unknown symbols, or too many, cannot be scored."""
        found = as_things(inputs)
        if found is None:
            raise DataError("this detector takes a list of texts: give it one")
        reasons = {place: self.vocabulary.refusal(text) for place, text in enumerate(found)}
        return Prepared(found, {place: {"": reason} for place, reason in reasons.items() if reason})

    def transform(self, array: NDArray[Any]) -> NDArray[Any]:
        """Symbols' numbers (n, L), uint8; a blank input has none."""
        return self.vocabulary(["" if text is None else text for text in array])

    def shown(self, array: NDArray[Any], data: NDArray[Any]) -> NDArray[Any]:  # noqa: ARG002
        """The symbols' numbers."""
        return data

    def inverse(self, seen: NDArray[np.float32], dtype: np.dtype[Any]) -> NDArray[Any]:  # noqa: ARG002
        """The symbols' numbers; :meth:`Vocabulary.texts` makes texts of them."""
        return seen

    def made_up(self, count: int, random: np.random.Generator) -> NDArray[Any]:
        """Return sequences of symbols drawn by chance."""
        return random.integers(0, len(self.vocabulary.symbols) + 1, (count, *self.seen)).astype(np.uint8)

    def blank(self, count: int) -> NDArray[Any]:
        """Return None so many times, which stands for inputs that are missing."""
        return np.full(count, None, dtype=object)

    def is_single(self, shape: tuple[int, ...]) -> bool:  # noqa: ARG002
        """Whether it is one text: never, for texts come in lists."""
        return False

    def config(self) -> dict[str, Any]:
        """JSON values."""
        return super().config() | {"embedder": embedder_to_config(self.vocabulary)}
