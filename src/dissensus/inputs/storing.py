"""Whatever stands for inputs, on disk, and what is learnt of it before any model sees it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import SettingsError
from dissensus.inputs.arrays import read_array
from dissensus.inputs.caching import store_array, store_file, store_pictures, stored_file
from dissensus.inputs.folders import ImageFolder
from dissensus.inputs.frames import Frame
from dissensus.inputs.grey import none_coloured, warn_of_grey
from dissensus.inputs.pictures import PicturePreprocessor, surroundings_of_some
from dissensus.inputs.preprocessing import fit_rows
from dissensus.inputs.preprocessor import Preprocessor
from dissensus.inputs.stored import Stored, StoredFile
from dissensus.inputs.stored_tables import store_table
from dissensus.inputs.streams import open_source
from dissensus.inputs.table_encoder import TableEncoder
from dissensus.inputs.tables import TableFile, TableStream
from dissensus.inputs.textures import textures
from dissensus.seeding import numpy_stream

__all__ = ["store_inputs", "stored_preprocessor"]

MOST_ROWS = 200_000  # that scales are learnt from: their error is a five-hundredth of a deviation
LEAST_ROWS = 200  # with fewer a scale is not known to a twentieth
COPIES = 8  # of inputs that are in memory while something is learnt from them


def store_inputs(
    source: Any,
    folder: Path,
    *,
    resize: tuple[int, int] | None,
    most: int,
    as_they_are: bool = False,
    stacklevel: int = 2,
) -> tuple[Stored, TableEncoder | None]:
    """Put inputs on disk (in ``folder`` if they must be decoded); return them and a table's encoder.

    Rows of a table are read so many at once that they take about ``most`` bytes. Columns that number them
    are left out, and pictures that are all grey have one channel, unless they are to be read
    ``as_they_are``.
    """
    stored, encoder = _stored(source, folder, resize, most, stacklevel + 1)
    if as_they_are or not stored.pictured or stored.input_shape[2] != 3 or not none_coloured(stored.runs()):
        return stored, encoder
    warn_of_grey(len(stored), stacklevel=stacklevel + 1)
    return stored.in_grey(), encoder


def _stored(
    source: Any, folder: Path, resize: tuple[int, int] | None, most: int, stacklevel: int
) -> tuple[Stored, TableEncoder | None]:
    if _is_npy(source):
        source = read_array(source, mapped=True)
    if isinstance(source, np.memmap) and source.filename is not None and source.mode == "r":
        file = StoredFile.open(Path(source.filename))
        if file is not None and source.flags.c_contiguous and file.shape == source.shape:
            return stored_file(file) or store_file(file, folder), None
    opened = open_source(source, resize=resize)
    if isinstance(opened, ImageFolder):
        return store_pictures(opened, folder), None
    if isinstance(opened, TableFile | TableStream | Frame):
        return store_table(opened, folder, most=most, stacklevel=stacklevel + 1)
    return store_array(np.asanyarray(opened), folder), None


def _is_npy(source: Any) -> bool:
    """Whether it is a path to an array that may stay where it is."""
    if not isinstance(source, str | Path) or Path(source).suffix.lower() != ".npy":
        return False
    return os.path.isfile(source)  # noqa: PTH113 unlike Path's own, False for names that no file could have


def stored_preprocessor(
    stored: Stored,
    training: NDArray[np.int64],
    encoder: TableEncoder | None,
    *,
    resize: tuple[int, int] | None,
    random: np.random.Generator | None,
    seed: int,
    most: int,
    stacklevel: int,
) -> Preprocessor:
    """Learns from training inputs on disk what comes before a model, with about ``most`` bytes of them.

    Of pictures it is what ``fit_preprocessor`` learns from all in memory, of rows it is that of at most
    200,000 training rows, chosen by chance. Where not even 200 rows fit, that is a SettingsError.
    """
    if len(stored.input_shape) == 3:
        size = max(1, most // (COPIES * stored.row_bytes))

        def textures_of(chosen: NDArray[np.int64]) -> NDArray[np.float64]:
            rows = training[chosen]
            return np.concatenate(
                [textures(stored.take(rows[at : at + size])) for at in range(0, len(rows), size)]
            )

        near = None if random is None else surroundings_of_some(len(training), textures_of, random)
        return PicturePreprocessor(stored.input_shape, resize, near)
    count = min(len(training), MOST_ROWS, most // (COPIES * stored.row_bytes))
    if count < min(len(training), LEAST_ROWS):
        raise SettingsError(
            f"memory is too little for rows of {stored.input_shape[0]} numbers: at least {LEAST_ROWS} are "
            f"needed at once, and {count} fit: give {LEAST_ROWS / max(1, count):.0f} times as much"
        )
    chosen = training
    if count < len(training):
        chosen = training[np.sort(numpy_stream(seed, "scales").permutation(len(training))[:count])]
    return fit_rows(
        stored.take(chosen),
        np.arange(len(chosen)),
        encoder,
        resize=resize,
        random=random,
        stacklevel=stacklevel + 1,
    )
