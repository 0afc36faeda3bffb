"""Datasets by name: found on this machine, or else downloaded once into a per-user cache."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal

from dissensus.errors import DataError
from dissensus.inputs.dataset import Dataset
from dissensus.inputs.datasets import DATASETS, Entry
from dissensus.inputs.download import Progress, download_file, download_members

__all__ = ["DATASET_NAMES", "dataset_places", "load_dataset"]

DATASET_NAMES = tuple(DATASETS)


def load_dataset(
    name: str,
    split: Literal["train", "test"] = "train",
    *,
    download: bool = True,
    progress: Progress | None = None,
) -> Dataset:
    """Return the dataset of that name, one of ``DATASET_NAMES``.

    The files are taken from the first of ``dataset_places(name)`` that has them all, as they are; what is not
    found is downloaded into the per-user cache and checked against the published checksum.
    """
    if name not in DATASETS:
        raise DataError(f"there is no dataset {name!r}; choose one of {', '.join(DATASET_NAMES)}.")
    if split not in ("train", "test"):
        raise DataError(f"{name} has the splits train and test, not {split!r}.")
    entry = DATASETS[name]
    places = dataset_places(name)
    files = next((found for place in places if (found := _find(place, entry, split))), None)
    if files is None:
        files = _download(name, split, places, download, progress)
    images, labels = entry.read(files)
    return Dataset(images, labels, name, split)


def dataset_places(name: str) -> list[Path]:
    """Return the folders where a dataset's files are looked for, in this order."""
    entry = DATASETS[name]
    configured = os.environ.get("DISSENSUS_DATA")
    roots = [Path(configured).expanduser()] if configured else []
    places = [root / entry.folder for root in (*roots, Path("data"), _cache())]
    return places if entry.also_in is None else [*places, entry.also_in]


def _cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "dissensus"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dissensus"


def _find(place: Path, entry: Entry, split: str) -> list[Path] | None:
    """The split's files in ``place``, each as named or unpacked, or None if one is missing."""
    files = [
        next((path for path in (place / name, place / name.removesuffix(".gz")) if path.is_file()), None)
        for name in entry.files[split]
    ]
    return [path for path in files if path is not None] if None not in files else None


def _download(
    name: str, split: str, places: list[Path], allowed: bool, progress: Progress | None
) -> list[Path]:
    entry = DATASETS[name]
    target = _cache() / entry.folder
    reason = "and downloading is switched off"
    if allowed:
        try:
            _fetch(entry, split, target, progress)
        except DataError as error:
            reason = f"and {error}"
        else:
            return [target / file for file in entry.files[split]]
    raise DataError(
        "\n".join(
            [
                f"{name} ({split}) was not found, {reason}",
                "Looked in:",
                *(f"  {place.absolute()}" for place in places),
                f"Expected there: {', '.join(entry.files[split])}",
                f"Remedy: set DISSENSUS_DATA to the folder that holds {entry.folder}{entry.remedy}.",
            ]
        )
    )


def _fetch(entry: Entry, split: str, target: Path, progress: Progress | None) -> None:
    files = entry.files[split]
    archives = {(origin.url, origin.sha256) for origin in files.values() if origin.member is not None}
    for url, sha256 in archives:
        # The archive is large and holds both splits: unpack all there is, so that it is fetched once.
        members = [
            origin.member
            for part in entry.files.values()
            for origin in part.values()
            if origin.member is not None and origin.url == url
        ]
        download_members(url, target, members, sha256=sha256, progress=progress)
    for file, origin in files.items():
        if origin.member is None and not (target / file).is_file():
            download_file(origin.url, target, sha256=origin.sha256, progress=progress)
