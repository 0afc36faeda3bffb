"""Preprocessors, learnt from training inputs or read from a saved gate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import ArtifactError
from dissensus.inputs.absurd_values import warn_of_absurd_values
from dissensus.inputs.embedded import restore_embedded
from dissensus.inputs.embedders import Embedder, Vocabulary
from dissensus.inputs.grey import grey_if_all_are
from dissensus.inputs.identifiers import identifiers_in, warn_of_identifiers
from dissensus.inputs.pictures import PicturePreprocessor, picture_surroundings
from dissensus.inputs.preprocessor import Preprocessor
from dissensus.inputs.rows import RowPreprocessor
from dissensus.inputs.standardiser import Standardiser
from dissensus.inputs.surroundings import Surroundings, is_wide
from dissensus.inputs.table_encoder import TableEncoder
from dissensus.inputs.tables import Table
from dissensus.inputs.texts import TextPreprocessor
from dissensus.inputs.textures import texture_size

__all__ = ["fit_preprocessor", "fit_rows", "restore_preprocessor"]


def fit_preprocessor(
    inputs: NDArray[Any] | Table,
    training: NDArray[np.int64],
    *,
    resize: tuple[int, int] | None = None,
    random: np.random.Generator | None = None,
    as_they_are: bool = False,
    stacklevel: int | None = 2,
) -> tuple[Preprocessor, NDArray[Any]]:
    """Learns from inputs that :func:`~dissensus.inputs.streams.training_inputs` gave; returns them as read.

    The columns' kinds are learnt from all of the inputs, their scales from the rows ``training`` alone.
    With ``random``, training rows are kept to measure distances to, or a random choice if there are many.
    Pictures that are all grey have one channel from here on, unless they are to be read ``as_they_are``.
    Columns that number the rows are left out. They are warned of, as are absurd values; ``stacklevel`` says
    whose call the warning is about, and None that they were warned of before.
    """
    table: TableEncoder | None = None
    if isinstance(inputs, Table):
        identifiers = identifiers_in(inputs)
        table = TableEncoder.fit(identifiers.left_out_of(inputs))
        rows: NDArray[Any] = table.transform(inputs)[0]
        if stacklevel is not None:
            warn_of_identifiers(identifiers, len(inputs), stacklevel=stacklevel + 1)
    elif inputs.ndim > 2:
        if not as_they_are:
            inputs = grey_if_all_are(inputs, stacklevel=None if stacklevel is None else stacklevel + 1)
        near = None if random is None else picture_surroundings(inputs[training], random)
        return PicturePreprocessor(tuple(inputs.shape[1:]), resize, near), inputs
    else:
        rows = inputs
    found = fit_rows(
        rows,
        training,
        table,
        resize=resize,
        random=random,
        stacklevel=None if stacklevel is None else stacklevel + 1,
    )
    return found, rows


def fit_rows(
    rows: NDArray[Any],
    training: NDArray[np.int64],
    table: TableEncoder | None,
    *,
    resize: tuple[int, int] | None,
    random: np.random.Generator | None,
    stacklevel: int | None,
) -> RowPreprocessor:
    """Learns from rows (N, D), made by ``table`` if it is given, as :func:`fit_preprocessor` does."""
    found = RowPreprocessor(Standardiser.fit(rows[training]), table, resize)
    if random is not None:
        found = replace(found, surroundings=_surroundings(found, rows[training], random))
    if stacklevel is not None:
        warn_of_absurd_values(rows, found.columns, stacklevel=stacklevel + 1)
    return found


def _surroundings(rows: RowPreprocessor, training: NDArray[Any], random: np.random.Generator) -> Surroundings:
    if is_wide(training.shape[1]):
        return Surroundings.of_vectors(training, random)
    return Surroundings.of_columns(rows.transform(training), random)


def restore_preprocessor(
    config: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    shape: tuple[int, ...],
    *,
    resize: tuple[int, int] | None,
    embed: Embedder | None = None,
) -> Preprocessor:
    """The inverse of a preprocessor's ``config`` and ``arrays``, for a model of inputs of ``shape``.

    ``embed`` is the embedder that the gate names, if any. What no fit could have left is an ArtifactError.
    """
    pictured = len(shape) == 3
    if isinstance(embed, Vocabulary):
        if shape != (embed.length,):
            raise ArtifactError("its vocabulary is not that of its model: save the gate again")
        return _as_described(TextPreprocessor(embed), config)
    if pictured == bool({"mean", "scale"} & set(arrays)):
        raise ArtifactError("its scales belong to another kind of input: save the gate again")
    described = config["table"]
    encoded = described is not None and embed is None
    table = TableEncoder.from_config(described) if encoded else None
    if table is not None and (len(table.features),) != shape:
        raise ArtifactError("its columns are not those of its networks: save the gate again")
    found: Preprocessor
    if pictured and embed is not None:
        raise ArtifactError("its model reads pictures, and its embedder gives rows: save the gate again")
    if pictured:
        kept = Surroundings.restore(arrays, columns=texture_size(shape), projected=None, pictured=True)
        found = PicturePreprocessor(shape, resize, kept)
    else:
        mean, scale = arrays["mean"], arrays["scale"]
        if not (_is_column(mean, shape) and _is_column(scale, shape) and (scale > 0).all()):
            raise ArtifactError("its means or scales are not those of its columns: save the gate again")
        own_scale = Standardiser(mean, scale)
        if embed is None:
            kept = Surroundings.restore(arrays, columns=shape[0], projected=None)
            found = RowPreprocessor(own_scale, table, resize, kept)
        else:
            found = restore_embedded(config, arrays, embed, own_scale, resize=resize)
    return _as_described(found, config)


def _as_described(found: Preprocessor, config: Mapping[str, Any]) -> Preprocessor:
    """What else a gate says, or says otherwise, would not be done."""
    own = found.config()
    different = [part for part in own if config[part] != own[part]]
    if different:
        raise ArtifactError(
            f"its {' and '.join(different)} in config.json are not what its networks and arrays make of "
            "inputs: save the gate again"
        )
    return found


def _is_column(values: NDArray[Any], shape: tuple[int, ...]) -> bool:
    return values.shape == shape and values.dtype == np.float64 and bool(np.isfinite(values).all())
