"""The datasets that have a name: one file each, and a line here.

Their SHA-256 are those that TensorFlow Datasets lists, of the same files whose MD5 torchvision and the
publishers list.
"""

from __future__ import annotations

from collections.abc import Mapping

from dissensus.homes import Homes
from dissensus.inputs.datasets.entry import Entry, Origin

__all__ = ["DATASETS", "Entry", "Origin"]

_HOMES = {
    "fashion-mnist": "fashion_mnist:ENTRY",
    "mnist": "mnist:ENTRY",
    "kmnist": "kmnist:ENTRY",
    "svhn": "svhn:ENTRY",
    "cifar10": "cifar10:ENTRY",
}
DATASETS: Mapping[str, Entry] = Homes("dissensus.inputs.datasets", _HOMES)
"""Every dataset by name."""
