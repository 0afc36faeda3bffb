"""A run's arrays and what is known about them: a cache, one ``.npz`` that is whole or not there at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dissensus.atomic import atomic_path
from dissensus.errors import DataError

__all__ = ["Archive"]


@dataclass(frozen=True, eq=False)
class Archive:
    """What is left of a run, in memory and in the cache: all that rows are made from."""

    arrays: Mapping[str, NDArray[Any]]
    """By name; none is called ``info``."""
    info: Mapping[str, Any] = field(default_factory=dict)
    """Plain values: ``draws``, ``diagnostics``, ``seconds``, and what else a benchmark needs."""

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The array of that name."""
        return self.arrays[name]

    def below(self, folder: str) -> dict[str, NDArray[Any]]:
        """Arrays whose names begin with ``folder/``, without it.

        >>> list(Archive({"statistic/norm": np.zeros(2), "matrix": np.zeros(2)}).below("statistic"))
        ['norm']
        """
        start = f"{folder}/"
        return {
            name.removeprefix(start): each for name, each in self.arrays.items() if name.startswith(start)
        }

    def save(self, path: Path) -> None:
        """Writes the file, and missing folders."""
        path.parent.mkdir(parents=True, exist_ok=True)
        text = np.frombuffer(json.dumps(self.info).encode(), dtype=np.uint8)
        with atomic_path(path) as temporary, temporary.open("wb") as stream:
            np.savez(stream, info=text, **self.arrays)  # type: ignore[arg-type]  # its third parameter is a bool by name

    @classmethod
    def load(cls, path: Path) -> Self:
        """The inverse of :meth:`save`."""
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            return cls(arrays, json.loads(arrays.pop("info").tobytes()))
        except Exception as error:  # on damaged bytes the parsers raise almost anything
            raise DataError(f"{path} is not a readable run ({error}); delete it and measure again") from error
