"""The data that comes with the package: a sample of Fashion-MNIST, and digits as its natural outliers.

The file ``sample/fashion-mnist-7000.xz`` unpacks to 7,000 label bytes and then 7,000 × 28 × 28 pixel bytes:
6,000 images of the official training set, then 1,000 of the official test set, balanced over the ten classes
and in random order. ``tools/make_sample.py`` made it.
"""

from __future__ import annotations

import lzma
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError
from dissensus.inputs.dataset import Dataset

__all__ = ["digits", "load_sample"]

_TRAIN, _TEST, _SIDE = 6000, 1000, 28


def load_sample() -> tuple[Dataset, Dataset]:
    """Return 6,000 training and 1,000 test images (N, 28, 28) of Fashion-MNIST with their labels.

    >>> load_sample()
    (Dataset('fashion-mnist-sample', 'train', images (6000, 28, 28)), \
Dataset('fashion-mnist-sample', 'test', images (1000, 28, 28)))
    """
    total = _TRAIN + _TEST
    packed = files("dissensus.inputs").joinpath("sample", "fashion-mnist-7000.xz")
    try:
        content = bytearray(lzma.decompress(packed.read_bytes()))
    except (OSError, lzma.LZMAError) as error:
        raise DataError(f"{packed} cannot be read ({error}); install the package again.") from error
    if len(content) != total * (1 + _SIDE**2):
        raise DataError(f"{packed} is damaged; install the package again.")
    values = np.frombuffer(content, np.uint8)
    labels, images = values[:total], values[total:].reshape(total, _SIDE, _SIDE)
    return (
        Dataset(images[:_TRAIN], labels[:_TRAIN], "fashion-mnist-sample", "train"),
        Dataset(images[_TRAIN:], labels[_TRAIN:], "fashion-mnist-sample", "test"),
    )


def digits() -> NDArray[np.uint8]:
    """Return scikit-learn's 1,797 handwritten digits, enlarged from 8×8 to uint8 (1797, 28, 28)."""
    from scipy.ndimage import zoom
    from sklearn.datasets import load_digits

    small = load_digits().images  # float64 (1797, 8, 8), values 0..16
    factor = _SIDE / small.shape[1]
    large = zoom(small * (255 / 16), (1, factor, factor), order=3, mode="grid-constant", grid_mode=True)
    return np.asarray(large.round().clip(0, 255).astype(np.uint8))
