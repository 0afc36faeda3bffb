"""A run of inputs out of a longer stream of them, and the streams that arrays and pictures make."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError
from dissensus.inputs.arrays import read_array
from dissensus.inputs.folders import name_below
from dissensus.inputs.grey import IN_COLOUR, as_grey, coloured
from dissensus.inputs.image_file import read_image

__all__ = ["ArrayStream", "Chunk", "InputStream", "PictureStream", "as_pixels"]


@dataclass(frozen=True)
class Chunk:
    """n inputs in a row, some of which may not be usable."""

    names: Sequence[str | int]
    """(n,) what each input is called: its row number, path or id."""
    inputs: Any
    """An array (n, …) or a :class:`Table` of n rows; what stands in the unusable ones means nothing."""
    share: float
    """How much of the stream is behind the end of this chunk, 0..1; 0 where nobody can know."""
    problems: dict[int, str] = field(default_factory=dict)
    """Position in the chunk → why that input cannot be used."""


@runtime_checkable
class InputStream(Protocol):
    """Inputs that come in chunks, so that never more than a chunk is in memory."""

    live: bool
    """Whether it comes from a pipe: it may be empty, may never end, and cannot be read again."""

    def chunks(self, size: int, start: int = 0) -> Iterator[Chunk]:
        """All inputs from number ``start`` on, at most ``size`` at a time."""
        ...


class ArrayStream:
    """The rows of an array (N, …), or of a ``.npy`` file that is never read as a whole.

    >>> [chunk.names for chunk in ArrayStream(np.zeros((5, 2))).chunks(2)]
    [range(0, 2), range(2, 4), range(4, 5)]
    """

    live = False

    def __init__(self, source: NDArray[Any] | Path) -> None:
        self.source = source
        rows = read_array(source, mapped=True) if isinstance(source, Path) else source
        if rows.ndim == 0:
            name = source if isinstance(source, Path) else "X"
            raise DataError(
                f"{name} holds a single number and no inputs: save an array with an axis of inputs"
            )
        self.shape: tuple[int, ...] = rows.shape[1:]
        self._length = len(rows)

    def __len__(self) -> int:
        return self._length

    def chunks(self, size: int, start: int = 0) -> Iterator[Chunk]:
        """Rows named by their number from 0."""
        for begin in range(start, len(self), size):
            # Nothing here holds on to a chunk: the next one would be read while it is still in memory.
            yield self._chunk(range(begin, min(begin + size, len(self))))

    def _chunk(self, numbers: range) -> Chunk:
        rows = self._rows(slice(numbers.start, numbers.stop))
        return Chunk(numbers, rows, numbers.stop / len(self), _unusable(rows))

    def _rows(self, rows: slice) -> NDArray[Any]:
        if isinstance(self.source, Path):
            # Mapped anew for each chunk: pages of a map that stays open would count as this process's memory.
            return np.array(read_array(self.source, mapped=True)[rows])
        return self.source[rows]


class PictureStream:
    """Picture files, each named by its path below ``root``, for a model of one ``shape`` (H, W, C).

    ``size`` (H, W) is what they are brought to. For C = 3 grey pictures are made RGB; for C = 1 pictures in
    colour are refused, unless ``channels=1`` says that they are to be made grey. A picture that is refused,
    of another shape, or cannot be read is a problem of that picture alone; where ``leave_out`` is given, it
    is told of such pictures, and they are left out.
    """

    live = False

    def __init__(
        self,
        paths: Sequence[Path],
        root: Path,
        *,
        shape: tuple[int, ...],
        size: tuple[int, int] | None = None,
        channels: int | None = None,
        leave_out: Callable[[Path, str], None] | None = None,
    ) -> None:
        self.paths = tuple(paths)
        self.root = root
        self.shape = shape
        self.size = size
        self.channels = channels
        self.leave_out = leave_out

    def __len__(self) -> int:
        return len(self.paths)

    def chunks(self, size: int, start: int = 0) -> Iterator[Chunk]:
        """Pixels (n, H, W, C) of uint8."""
        channels = 3 if self.shape[2] == 3 else self.channels
        for begin in range(start, len(self), size):
            paths = self.paths[begin : begin + size]
            pixels = np.zeros((len(paths), *self.shape), np.uint8)
            names: list[str] = []
            problems = {}
            for path in paths:
                try:
                    picture = read_image(path, size=self.size, channels=channels)
                    pixels[len(names)] = as_pixels(picture, self.shape, name=str(path))
                except DataError as error:
                    if self.leave_out is not None:
                        self.leave_out(path, str(error))
                        continue
                    problems[len(names)] = str(error)
                names.append(name_below(self.root, path))
            if names:
                yield Chunk(names, pixels[: len(names)], (begin + len(paths)) / len(self), problems)


def as_pixels(picture: NDArray[Any], shape: tuple[int, ...], *, name: str) -> NDArray[Any]:
    """The picture (H, W) or (H, W, C) as (H, W, C) of ``shape``, which it must have."""
    pixels = picture[..., None] if picture.ndim == 2 else picture
    if shape[2:] == (1,) and pixels.shape[2:] == (3,):
        if coloured(pixels[None]).any():
            raise DataError(f"{name} {IN_COLOUR}")
        pixels = as_grey(pixels)
    if pixels.shape[2:] != shape[2:]:
        kind = {1: "grey", 3: "RGB"}
        raise DataError(
            f"{name} has {pixels.shape[2]} channels and {shape[2]} was expected: make it "
            f"{kind.get(shape[2], 'so')}"
        )
    if pixels.shape != shape:
        raise DataError(
            f"{name} is {pixels.shape[0]}×{pixels.shape[1]} and {shape[0]}×{shape[1]} was expected: resize "
            "it, on the command line with --resize"
        )
    return pixels


def _unusable(rows: NDArray[Any]) -> dict[int, str]:
    """Why single rows of numbers cannot be used; what is wrong with all of them is not said here."""
    if rows.dtype.kind not in "fiu" or rows.dtype == np.uint8 or rows.ndim not in (2, 3, 4):
        return {}
    flat = rows.reshape(len(rows), -1)
    finite = np.isfinite(flat).all(axis=1)
    problems = dict.fromkeys(np.flatnonzero(~finite).tolist(), "it holds NaN or infinite values")
    if rows.ndim > 2:
        low, high = (-1e-6, 1 + 1e-6) if rows.dtype.kind == "f" else (0, 255)
        with np.errstate(invalid="ignore"):
            outside = finite & ((flat < low) | (flat > high)).any(axis=1)
        meant = "[0, 1]" if rows.dtype.kind == "f" else "0..255"
        problems |= dict.fromkeys(np.flatnonzero(outside).tolist(), f"it holds values outside {meant}")
    return problems
