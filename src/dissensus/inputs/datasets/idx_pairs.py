"""Datasets in the form of MNIST: a file of images and a file of labels, both IDX, for each split."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dissensus.errors import DataError
from dissensus.inputs.datasets.entry import Entry, Origin, Pictures
from dissensus.inputs.idx import read_idx

__all__ = ["mnist_like"]


def mnist_like(
    folder: str,
    base: str,
    train: tuple[str, str],
    test: tuple[str, str],
    *,
    also_in: Path | None = None,
    remedy: str = "",
) -> Entry:
    """The entry of a dataset with MNIST's file names below ``base``, by their SHA-256."""
    names = ("images-idx3-ubyte.gz", "labels-idx1-ubyte.gz")
    files = {
        split: {
            f"{prefix}-{name}": Origin(f"{base}{prefix}-{name}", sha256)
            for name, sha256 in zip(names, sums, strict=True)
        }
        for split, prefix, sums in (("train", "train", train), ("test", "t10k", test))
    }
    return Entry(f"{folder}/raw", files, _read, also_in=also_in, remedy=remedy)


def _read(files: Sequence[Path]) -> Pictures:
    images, labels = map(read_idx, files)
    if images.dtype != np.uint8 or images.ndim != 3 or labels.dtype != np.uint8 or labels.ndim != 1:
        raise DataError(
            f"{files[0]} and {files[1]} must hold uint8 images (N, H, W) and uint8 labels (N,), not "
            f"{images.dtype} {images.shape} and {labels.dtype} {labels.shape}."
        )
    if len(images) != len(labels):
        raise DataError(f"{files[0]} holds {len(images)} images but {files[1]} {len(labels)} labels.")
    return images, labels
