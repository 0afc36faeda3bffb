"""CIFAR-10: things and animals in colour, 32×32 (Krizhevsky 2009)."""

from __future__ import annotations

from dissensus.inputs.cifar10 import read_cifar10
from dissensus.inputs.datasets.entry import Entry, Origin

__all__ = ["ENTRY"]

_ARCHIVE = (
    "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
)
_PARTS = {"train": [f"data_batch_{part}.bin" for part in range(1, 6)], "test": ["test_batch.bin"]}

ENTRY = Entry(
    "cifar-10-batches-bin",
    {
        split: {name: Origin(*_ARCHIVE, member=f"cifar-10-batches-bin/{name}") for name in names}
        for split, names in _PARTS.items()
    },
    read_cifar10,
)
