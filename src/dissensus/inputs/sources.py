"""From whatever a person points at to an array, or to a folder that is read a batch at a time."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError, InputWarning
from dissensus.inputs.arrays import read_array
from dissensus.inputs.cifar10 import read_cifar10
from dissensus.inputs.dataset import Dataset
from dissensus.inputs.download import Progress
from dissensus.inputs.folders import ImageFolder, in_foreign_formats, is_pattern
from dissensus.inputs.idx import read_idx
from dissensus.inputs.image_file import image_suffixes, read_image
from dissensus.inputs.named import DATASET_NAMES, load_dataset
from dissensus.inputs.svhn import read_svhn
from dissensus.inputs.tables import TableFile, is_table

__all__ = ["open_inputs"]

_ACCEPTED = (
    "an array, a tensor, a folder of images, an image, a pattern for images, a .csv, .tsv (or .gz of them), "
    ".parquet, .xlsx, .npy, .npz, .idx, .idx.gz, .mat or .bin file, or a dataset "
    f"({', '.join(DATASET_NAMES)}, each with :train or :test)"
)


def open_inputs(
    source: Any,
    *,
    name: str = "X",
    size: tuple[int, int] | None = None,
    channels: int | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    progress: Progress | None = None,
) -> NDArray[Any] | ImageFolder | TableFile:
    """Open the inputs that ``source`` stands for; ``name`` is what messages call it.

    Accepts arrays and tensors (as they are, unchecked), datasets, image folders and tables, paths to files
    and folders, patterns for image files, and dataset names such as ``"mnist"`` or ``"mnist:test"``; what
    exists as a path is taken as one. ``size`` (H, W), ``channels`` and ``on_error`` are for image files and
    folders that are opened here, ``progress`` is for downloads.

    >>> open_inputs([[0.0, 1.0]]).shape
    (1, 2)
    """
    # Unlike Path's own, this is False for "" and for names no file could have.
    path = Path(source) if isinstance(source, str | Path) and os.path.exists(source) else None  # noqa: PTH110
    if (path is not None and path.is_dir()) or (isinstance(source, str | Path) and is_pattern(source)):
        folder = ImageFolder(source, size=size, channels=channels, on_error=on_error)
        if folder.foreign:
            said = in_foreign_formats(folder.root, folder.foreign)
            warnings.warn(f"{said}: left out; save as JPEG or PNG", InputWarning, stacklevel=2)
        return folder
    if path is not None and path.suffix.lower() in image_suffixes():
        return read_image(path, size=size, channels=channels)[None]
    if isinstance(source, ImageFolder | TableFile):
        return source
    if size is not None or channels is not None:
        raise DataError(f"{name}: a size and channels can be asked of image files and folders only.")
    if path is not None and is_table(path):
        return TableFile(path)
    if path is not None:
        return _from_file(path)
    if isinstance(source, str | Path):
        return _from_name(source, name, progress)
    if isinstance(source, Dataset):
        return source.images
    return _from_memory(source, name)


def _from_file(path: Path) -> NDArray[Any]:
    suffix = path.suffix.lower()
    if ".jsonl" in (suffix, path.with_suffix("").suffix.lower()):
        raise DataError(
            f"{path} holds JSON lines, which can be scored and not fitted on: fit on a table, such as .csv"
        )
    if suffix in (".npy", ".npz"):
        return read_array(path)
    if suffix in (".idx", ".gz") or path.name.endswith("-ubyte"):
        return read_idx(path)
    if suffix == ".mat":
        return read_svhn(path)[0]
    if suffix == ".bin":
        return read_cifar10(path)[0]
    kind = f"ends with {suffix}, which is not a format" if suffix else "has no suffix that names a format"
    raise DataError(f"{path} {kind} that can be read: give {_ACCEPTED}")


def _from_name(source: str | Path, name: str, progress: Progress | None) -> NDArray[np.uint8]:
    dataset, _, split = str(source).partition(":")
    if isinstance(source, str) and dataset in DATASET_NAMES:
        if split not in ("", "train", "test"):
            raise DataError(f"{name}: {dataset} has the splits train and test, not {split!r}.")
        return load_dataset(dataset, "test" if split == "test" else "train", progress=progress).images
    asked = str(source)
    there = "" if name == asked else f"{name}: "
    if os.sep in asked or Path(asked).suffix:  # meant for a path
        raise DataError(f"{there}there is no file or folder {asked!r}; check its name and where it lies.")
    raise DataError(f"{there}there is no file, folder or dataset {asked!r}: give {_ACCEPTED}")


def _from_memory(source: Any, name: str) -> NDArray[Any]:
    try:
        if hasattr(source, "detach"):  # a torch tensor, told without importing torch
            source = source.detach().cpu().numpy()
        array = np.asarray(source)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} cannot be made an array ({error}): give {_ACCEPTED}") from error
    if array.ndim == 0:
        raise DataError(f"{name} is a {type(source).__name__}: give {_ACCEPTED}")
    return array
