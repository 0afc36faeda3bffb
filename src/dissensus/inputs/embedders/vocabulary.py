"""Texts as sequences of symbols, by a vocabulary that is data: its symbols, and how texts are divided."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dissensus.errors import DataError, SettingsError
from dissensus.inputs.embedders.contract import Embedder

__all__ = ["DIVISIONS", "Vocabulary"]

DIVISIONS: Mapping[str, tuple[str, str]] = {
    "words": (r"\S+", " "),
    "characters": (r"(?s:.)", ""),
    # Atoms in brackets, elements of two letters, ring closures of two digits; all else is one character.
    "smiles": (r"\[[^\]]+\]|Br|Cl|Si|Se|@@|%\d\d|(?s:.)", ""),
    "selfies": (r"\[[^\]]+\]|\.", ""),
}
"""How texts are divided into symbols: a pattern that every symbol matches, and what they are joined by."""
MOST_SYMBOLS = 254  # with the end 255 numbers, which fit in a byte
MOST_LENGTH = 4096


class Vocabulary(Embedder):
    """Turns texts into rows (n, L) of symbols' numbers, uint8; 0 is the end, which fills up what is left.

    ``symbols`` are all that occur, ``length`` is L, the most symbols that a text may have and one for its
    end. ``by`` says how a text is divided: a name from :data:`DIVISIONS`, or a pattern whose matches are the
    symbols.

    >>> vocabulary = Vocabulary.of(["x + 1", "x * x"])
    >>> vocabulary.symbols, vocabulary.length
    (('*', '+', '1', 'x'), 4)
    >>> vocabulary.texts(vocabulary(["x + x"]))
    ['x + x']
    """

    def __init__(self, symbols: Sequence[str], length: int, by: str = "words") -> None:
        self.symbols, self.length, self.by = tuple(symbols), length, by
        if isinstance(symbols, str) or not all(isinstance(symbol, str) and symbol for symbol in self.symbols):
            raise SettingsError("symbols must be a list of texts, none of them empty")
        if not 1 <= len(set(self.symbols)) == len(self.symbols) <= MOST_SYMBOLS:
            raise SettingsError(
                f"a vocabulary has 1 to {MOST_SYMBOLS} symbols, each once, and this has {len(self.symbols)}"
            )
        if type(length) is not int or not 2 <= length <= MOST_LENGTH:
            raise SettingsError(f"length={length!r}: give a whole number from 2 to {MOST_LENGTH}")
        pattern, self._between = DIVISIONS.get(by, (by, ""))
        try:
            self._pattern = re.compile(pattern)
        except re.error as error:
            names = ", ".join(DIVISIONS)
            raise SettingsError(f"by={by!r} is neither one of {names} nor a pattern ({error})") from error
        self._numbers = {symbol: number for number, symbol in enumerate(self.symbols, 1)}

    @classmethod
    def of(cls, texts: Iterable[str], *, by: str = "words", length: int | None = None) -> Self:
        """The vocabulary of texts: every symbol that occurs, and places for the longest of them."""
        own = cls(["?"], 2, by)
        divided = [own.divided(text) for text in texts]
        found = sorted({symbol for symbols in divided for symbol in symbols})
        longest = max(map(len, divided), default=0)
        if not found:
            raise DataError("the texts hold no symbols: give at least one that is not empty")
        return cls(found, longest + 1 if length is None else length, by)

    def __call__(self, batch: Any, /) -> NDArray[np.uint8]:
        """The symbols' numbers (n, L) of n texts; one that cannot be read is an error."""
        rows = np.zeros((len(batch), self.length), np.uint8)
        for row, text in zip(rows, batch, strict=True):
            if reason := self.refusal(text):
                raise DataError(reason)
            symbols = self.divided(text)
            row[: len(symbols)] = [self._numbers[symbol] for symbol in symbols]
        return rows

    def divided(self, text: str) -> list[str]:
        """The symbols of a text, in order."""
        return self._pattern.findall(text)

    def refusal(self, text: object) -> str:
        """Why a text cannot be read, in one sentence; empty if it can."""
        if not isinstance(text, str):
            return f"{str(text)[:40]!r} is no text"
        symbols = self.divided(text)
        if "".join(symbols) != "".join(text.split() if self._between else text):
            return f"{text[:40]!r} holds what is no symbol"
        unknown = [symbol for symbol in symbols if symbol not in self._numbers]
        if unknown:
            return f"{text[:40]!r} holds {unknown[0][:20]!r}, which is not in the vocabulary"
        if len(symbols) >= self.length:
            return f"{text[:40]!r} has {len(symbols)} symbols, and at most {self.length - 1} can be read"
        return ""

    def texts(self, rows: ArrayLike) -> list[str]:
        """The texts of rows (n, L) of symbols' numbers, each up to its end."""
        found = []
        for row in np.asarray(rows).astype(np.int64).tolist():
            kept = row[: row.index(0)] if 0 in row else row
            found.append(self._between.join(self.symbols[number - 1] for number in kept))
        return found

    def config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {"symbols": list(self.symbols), "length": self.length, "by": self.by}
