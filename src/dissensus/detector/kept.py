"""The inputs that go with chains of a fit in parts: those that no chain has seen, and some to show.

They are in memory, as they are after a fit in memory, or in files, of which a batch is in memory at a time.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.detector.drawing import CODED, EXAMPLES, HeldOut, InMemory, PreparedRows
from dissensus.detector.inputs import chunk_rows
from dissensus.errors import ArtifactError, not_written
from dissensus.inputs import EmbeddedPreprocessor, Preprocessor, StoredFile, TextPreprocessor
from dissensus.models.inputs import to_tensor
from dissensus.persistence import HELD_OUT

__all__ = ["KEPT_FILES", "Kept", "KeptFiles", "kept_in_files", "kept_in_memory", "write_kept"]

KEPT_FILES: Mapping[str, str] = dict(
    zip(("validation", "calibration", EXAMPLES, CODED), HELD_OUT, strict=True)
)
"""The name of the file that each part of the inputs is saved to."""


@dataclass(frozen=True)
class Kept(InMemory):
    """Inputs in memory, as read and as a model reads them."""

    inputs: Mapping[str, NDArray[Any]]
    parts: Mapping[str, Tensor]

    def given(self, part: str) -> NDArray[Any]:
        """Return a part's inputs as read."""
        return self.inputs[part]


@dataclass(frozen=True)
class KeptFiles:
    """Inputs in a folder, read again whenever they are asked for."""

    folder: Path
    preprocessor: Preprocessor

    def first(self, part: str, count: int) -> Tensor:
        """Return what a model reads of a part's first inputs."""
        return self._read(part, 0, min(count, self._files[part].shape[0]))[1]

    def batches(self, part: str) -> Iterator[tuple[NDArray[Any], Tensor]]:
        """Yield a part's inputs as read and as a model reads them; those to show all at once."""
        total = self._files[part].shape[0]
        size = max(1, total) if part == EXAMPLES else chunk_rows(self.preprocessor.shape)
        for start in range(0, max(1, total), size):
            yield self._read(part, start, min(start + size, total))

    def check(self) -> None:
        """Refuses files that are not of the inputs that the model reads."""
        seen = _keeps_seen(self.preprocessor)
        for part, file in self._files.items():
            if file.shape[1:] != (self.preprocessor.seen if seen else self.preprocessor.shape):
                raise ArtifactError(f"its inputs for {part} are not of the shape that its model reads")
            if not file.shape[0] and part not in (CODED, EXAMPLES):
                raise ArtifactError(f"it holds no inputs for {part}")
            self.first(part, 1)

    @cached_property
    def _files(self) -> Mapping[str, StoredFile]:
        found = {part: StoredFile.open(self.folder / name) for part, name in KEPT_FILES.items()}
        if None in found.values():
            raise ArtifactError("its held-out inputs are no numbers that lie one behind the other")
        return {part: file for part, file in found.items() if file is not None}

    def _read(self, part: str, start: int, stop: int) -> tuple[NDArray[Any], Tensor]:
        inputs = self._files[part].read(start, stop)
        if _keeps_seen(self.preprocessor):
            return np.zeros(len(inputs), np.uint8), torch.from_numpy(inputs)
        return inputs, to_tensor(self.preprocessor.transform(inputs))


def kept_in_memory(prepared: PreparedRows) -> Kept:
    """Return those inputs of a fit in memory that go with its chains."""
    given = {part: prepared.given(part) for part in KEPT_FILES}
    if _keeps_seen(prepared.preprocessor):
        given = {part: np.zeros(len(inputs), np.uint8) for part, inputs in given.items()}
    return Kept(given, {part: prepared.parts[part] for part in KEPT_FILES})


def kept_in_files(held_out: HeldOut, preprocessor: Preprocessor, folder: Path | None) -> KeptFiles:
    """Write those inputs of a fit within memory that go with its chains to a folder.

    None is a folder of its own that is there as long as what is returned.
    """
    try:
        place = Path(tempfile.mkdtemp(prefix="dissensus-")) if folder is None else folder
        place.mkdir(parents=True, exist_ok=True)
        found = KeptFiles(place, preprocessor)
        if folder is None:
            weakref.finalize(found, shutil.rmtree, place, ignore_errors=True)
        for part, name in KEPT_FILES.items():
            write_kept(held_out, preprocessor, part, place / name)
    except OSError as error:
        raise not_written("the folder for held-out inputs", error) from error
    return found


def write_kept(held_out: HeldOut, preprocessor: Preprocessor, part: str, path: Path) -> None:
    """Write a part's inputs to an ``.npy`` file, a batch at a time.

    Of vectors and texts it is what a model reads of them: the inputs may have been anything.
    """
    seen, count = _keeps_seen(preprocessor), 0
    with path.open("wb") as file:
        for given, read in held_out.batches(part):
            batch = np.ascontiguousarray(read.numpy() if seen else given)
            if not file.tell():
                _write_header(file, batch, 0)  # leaves room for the digits of the number of all
            batch.tofile(file)
            count += len(batch)
        file.seek(0)
        _write_header(file, batch, count)


def _write_header(file: Any, like: NDArray[Any], count: int) -> None:
    np.lib.format.write_array_header_1_0(
        file, {**np.lib.format.header_data_from_array_1_0(like), "shape": (count, *like.shape[1:])}
    )


def _keeps_seen(preprocessor: Preprocessor) -> bool:
    """Whether only what a model reads goes with chains, such as vectors: the inputs may be anything."""
    return isinstance(preprocessor, EmbeddedPreprocessor | TextPreprocessor)
