"""SVHN: house numbers in colour, 32×32 (Netzer et al. 2011)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dissensus.inputs.datasets.entry import Entry, Origin, Pictures
from dissensus.inputs.svhn import read_svhn

__all__ = ["ENTRY"]

_BASE = "http://ufldl.stanford.edu/housenumbers/"


def _read(files: Sequence[Path]) -> Pictures:
    return read_svhn(files[0])


ENTRY = Entry(
    "SVHN",
    {
        split: {f"{split}_32x32.mat": Origin(f"{_BASE}{split}_32x32.mat", sha256)}
        for split, sha256 in (
            ("train", "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8"),
            ("test", "cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b"),
        )
    },
    _read,
)
