"""Whatever stands for inputs, opened: to be learnt from as a whole, or to be read a chunk at a time."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Literal, cast

from numpy.typing import NDArray

from dissensus.errors import DataError
from dissensus.inputs.chunks import ArrayStream, InputStream, PictureStream
from dissensus.inputs.dataset import Dataset
from dissensus.inputs.download import Progress
from dissensus.inputs.folders import ImageFolder, is_pattern
from dissensus.inputs.frames import Frame, frame_of
from dissensus.inputs.image_file import image_suffixes
from dissensus.inputs.json_lines import JsonLines
from dissensus.inputs.packed_text import kind_of_file
from dissensus.inputs.preprocessor import Preprocessor
from dissensus.inputs.sources import open_inputs
from dissensus.inputs.tables import Table, TableFile, TableStream, is_table
from dissensus.inputs.things import as_things
from dissensus.inputs.validation import axes, check_images, check_rows, refuse_not_finite

__all__ = ["Source", "in_memory", "is_picture_file", "open_source", "open_stream", "training_inputs"]

JSON_LINES = (".jsonl", ".jsonl.gz")
Source = ImageFolder | TableFile | TableStream | Frame | NDArray[Any]
"""What can be fitted on."""


def open_source(
    source: Any,
    *,
    name: str = "X",
    resize: tuple[int, int] | None = None,
    id_column: str | None = None,
    drop: Sequence[str] = (),
    on_error: Literal["raise", "skip"] = "raise",
    progress: Progress | None = None,
) -> Source:
    """Open what a detector is to be fitted on: paths, names, datasets, frames, tables and tensors.

    ``id_column`` and ``drop`` are for files of tables, ``resize`` (H, W) and ``on_error`` for pictures,
    ``progress`` is for downloads, ``name`` is what messages call it. Arrays are left unchecked.
    """
    if isinstance(source, str | Path) and is_table(source) and resize is None:
        return TableFile(source, id_column=id_column, drop=drop)
    if id_column is not None or drop:
        raise DataError(
            f"id_column and drop are for tables in files, and {name} is no such file: leave them out"
        )
    if isinstance(source, str | Path):
        return cast(Source, open_inputs(source, name=name, size=resize, on_error=on_error, progress=progress))
    if isinstance(source, TableStream | Frame):
        return source
    if isinstance(source, Table):
        return TableStream(source)
    if isinstance(source, ImageFolder | TableFile | Dataset) or hasattr(source, "detach"):
        return cast(Source, open_inputs(source, name=name))
    found = frame_of(source)
    # Arrays of every library, and nested lists, are left to scikit-learn's own check.
    return cast(NDArray[Any], source) if found is None else found


def training_inputs(
    source: Any, *, resize: tuple[int, int] | None, embedded: bool = False
) -> NDArray[Any] | Table:
    """Return rows (N, D), pictures (N, H, W, C) or a table to fit on, checked; only pictures are resized.

    What will be ``embedded`` may be a list of anything as well, which becomes an array (N,) of objects.
    """
    if embedded and (things := as_things(source)) is not None:
        return things
    opened = open_source(source, resize=resize if _is_pictures(source) else None)
    inputs = opened.load() if isinstance(opened, ImageFolder | TableFile | TableStream | Frame) else opened
    if isinstance(inputs, Table):
        return inputs
    if axes(inputs) > 2:
        return check_images(inputs)
    rows = check_rows(inputs)
    refuse_not_finite(rows)
    return rows


def open_stream(
    source: Any,
    preprocessor: Preprocessor,
    *,
    id_column: str | None = None,
    resize: tuple[int, int] | None = None,
    progress: Progress | None = None,
    absent_as_missing: bool = False,
) -> InputStream:
    """Open whatever stands for inputs as a stream that the preprocessor can read.

    Besides all that a detector is fitted on, this is a ``.jsonl`` or ``.jsonl.gz`` file and a binary file
    object that holds JSON lines; a stream that is open already is returned as it is. ``id_column`` and
    ``resize`` are for tables and pictures, ``progress`` is for downloads. Of JSON lines, columns that an
    object lacks are an error of that line, or count as missing if ``absent_as_missing`` says so.
    """
    if preprocessor.kind == "objects":
        if not in_memory(source):
            raise DataError(
                "this detector was fitted on a list of what its embedder reads, and no file holds one: give "
                "it a list in Python, or fit it on a table"
            )
        return ArrayStream(preprocessor.read(source).array)
    frame = source if isinstance(source, Frame) else frame_of(source)
    if frame is not None:
        return _known(frame, preprocessor, id_column)
    if isinstance(source, Table):
        return TableStream(source)
    if isinstance(source, InputStream):
        return source
    path = Path(source) if isinstance(source, str | Path) and os.path.isfile(source) else None  # noqa: PTH113
    suffix = "" if path is None else kind_of_file(path)
    size = resize or preprocessor.resize
    if hasattr(source, "readline") or suffix in JSON_LINES:
        return JsonLines(
            path or cast(IO[bytes], source),
            shape=preprocessor.shape,
            columns=preprocessor.feature_names,
            id_column=id_column or preprocessor.id_column,
            resize=size,
            absent_as_missing=absent_as_missing,
        )
    if path is not None and is_table(path):
        if preprocessor.kind == "images":
            raise DataError(
                f"{path} is a table, and this detector was fitted on pictures: give it a folder of pictures, "
                "a picture, or an array of pixels such as .npy"
            )
        return _table(path, preprocessor, id_column)
    if path is not None and suffix == ".npy" and resize is None:
        return ArrayStream(path)
    if path is not None and suffix in image_suffixes():
        return _pictures((path,), path.parent, preprocessor, size=size)
    inputs = open_inputs(source, size=resize, progress=progress)
    if isinstance(inputs, ImageFolder):
        return _pictures(
            inputs.paths,
            inputs.root,
            preprocessor,
            size=resize or inputs.size or preprocessor.resize,
            channels=inputs.channels,
            leave_out=inputs.leave_out if inputs.on_error == "skip" else None,
        )
    return inputs if isinstance(inputs, TableFile) else ArrayStream(inputs)


def in_memory(source: Any) -> bool:
    """Whether it is an array of some library, or nested lists, rather than something to be opened."""
    opened = isinstance(source, str | Path | ImageFolder | Dataset | Table | InputStream)
    return not opened and not hasattr(source, "readline") and frame_of(source) is None


def is_picture_file(source: object) -> bool:
    """Whether it is a path to a single picture."""
    # Unlike Path's own, this is False for names that no file could have.
    return (
        isinstance(source, str | Path)
        and os.path.isfile(source)  # noqa: PTH113
        and Path(source).suffix.lower() in image_suffixes()
    )


def are_pictures(opened: object) -> bool:
    """Whether what :func:`open_source` gave are pictures."""
    if isinstance(opened, TableFile | TableStream | Frame | Table):
        return False
    return isinstance(opened, ImageFolder) or axes(opened) > 2


def _is_pictures(source: object) -> bool:
    """Whether it is a path to a picture or to a folder of them, or a pattern for them."""
    if not isinstance(source, str | Path):
        return False
    return is_picture_file(source) or os.path.isdir(source) or is_pattern(source)  # noqa: PTH112


def _known(frame: Frame, preprocessor: Preprocessor, id_column: str | None) -> Frame:
    """The frame with the column that names its rows, checked to have the columns that were fitted on."""
    known = preprocessor.id_column
    if id_column is None and known is not None and known in frame.columns:
        id_column = known
    if id_column is not None:
        frame = Frame(frame.frame, id_column=id_column)
    if preprocessor.feature_names is not None:
        frame.known_as(preprocessor.feature_names)
    return frame


def _table(path: Path, preprocessor: Preprocessor, id_column: str | None) -> TableFile:
    known = preprocessor.id_column
    if id_column is None and known is not None and known in TableFile(path).columns:
        id_column = known
    return TableFile(path, id_column=id_column)


def _pictures(paths: Sequence[Path], root: Path, preprocessor: Preprocessor, **options: Any) -> PictureStream:
    if preprocessor.kind != "images":
        raise DataError(
            f"X holds pictures, and this detector takes rows of {preprocessor.n_features} values: give it "
            f"a table or an array (N, {preprocessor.n_features})"
        )
    return PictureStream(paths, root, shape=preprocessor.shape, **options)
