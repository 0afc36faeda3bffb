"""The digest of what there is to score, equal wherever the same inputs lie."""

from __future__ import annotations

import hashlib
from pathlib import Path

from dissensus.inputs.folders import ImageFolder, is_pattern, name_below

__all__ = ["listing_digest"]

WHOLE = 1 << 26  # bytes of a file that are all read
BLOCKS, BLOCK = 256, 1 << 16  # of a larger one, as many evenly spaced runs of so many bytes


def listing_digest(data: str) -> str:
    """Return a digest of a folder's names and sizes, a file's size and content, or a dataset's name.

    Of files larger than 64 MiB, 16 MiB spread over the whole are read; times and the path do not count.
    """
    digest = hashlib.sha256()
    path = Path(data)
    if path.is_dir() or is_pattern(data):
        folder = ImageFolder(data)
        for picture in folder.paths:
            name = name_below(folder.root, picture)
            digest.update(f"{name}\0{picture.stat().st_size}\0".encode("utf-8", "surrogateescape"))
    elif path.is_file():
        _update(digest, path)
    else:
        digest.update(data.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _update(digest: hashlib._Hash, path: Path) -> None:
    size = path.stat().st_size
    digest.update(f"{size}\0".encode())
    with path.open("rb") as file:
        if size <= WHOLE:
            digest.update(file.read())
            return
        for number in range(BLOCKS):
            file.seek((size - BLOCK) * number // (BLOCKS - 1))
            digest.update(file.read(BLOCK))
