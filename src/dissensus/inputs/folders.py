"""A folder of pictures as one set of inputs, read a batch at a time."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError
from dissensus.inputs.image_file import image_suffixes, is_stored_grey, read_image

__all__ = ["ImageFolder", "in_foreign_formats", "is_pattern", "name_below"]

FOREIGN = frozenset(
    {".heic", ".heif", ".jxl", ".dng", ".raw", ".cr2", ".cr3", ".nef", ".arw", ".psd", ".svg"}
)
"""What telephones, cameras and drawing programs save, and Pillow by itself does not read."""


class ImageFolder:
    """All pictures below ``root``, nested folders included, in one order on every machine.

    ``root`` may be a pattern such as ``"photos/*.png"`` or ``"photos/**/front.jpg"`` instead.

    Files whose suffix Pillow does not know, hidden files and hidden folders are left out; those that are
    pictures all the same, as of telephones, are in ``foreign``. Linked folders are
    followed; one that was visited already, as by a link to a folder above, is not visited again. Without
    ``size`` (H, W) every picture must have the size of the first; without ``channels`` (1 or 3) all are grey
    if all are stored so, and RGB otherwise. ``on_error="skip"`` leaves out pictures that cannot be read and
    lists them in ``skipped``.
    """

    def __init__(
        self,
        root: str | Path,
        *,
        size: tuple[int, int] | None = None,
        channels: int | None = None,
        on_error: Literal["raise", "skip"] = "raise",
    ) -> None:
        if on_error not in ("raise", "skip"):
            raise DataError(f"on_error must be 'raise' or 'skip', not {on_error!r}.")
        self.root = _fixed_part(root) if is_pattern(root) else Path(root)
        self.size = size
        self.channels = channels
        self.on_error = on_error
        self.paths, self.foreign = (_matches(root), ()) if is_pattern(root) else _pictures(self.root)
        self._unreadable: dict[Path, str] = {}
        self._first: tuple[Path, tuple[int, ...]] | None = None

    def __len__(self) -> int:
        """How many pictures were found, before any is skipped."""
        return len(self.paths)

    def __repr__(self) -> str:
        return f"ImageFolder({str(self.root)!r}, {len(self)} pictures)"

    @property
    def skipped(self) -> list[tuple[Path, str]]:
        """The pictures left out so far, each with the reason."""
        return sorted(self._unreadable.items())

    def leave_out(self, path: Path, reason: str) -> None:
        """Adds a picture to those that were skipped."""
        self._unreadable[path] = reason

    @property
    def shape(self) -> tuple[int, ...]:
        """(H, W) or (H, W, 3), the shape of every picture as it is handed out."""
        return self._decided()[1]

    def batches(self, size: int = 256) -> Iterator[tuple[list[Path], NDArray[np.uint8]]]:
        """Yield paths and pixels (n, H, W) or (n, H, W, 3), n ≤ ``size``, a batch in memory at a time."""
        if size < 1:
            raise DataError(f"size must be at least 1, not {size}.")
        paths: list[Path] = []
        pixels = np.empty((min(size, len(self)), *self.shape), np.uint8)
        for path, picture in self._pixels():
            pixels[len(paths)] = picture
            paths.append(path)
            if len(paths) == len(pixels):
                yield paths, pixels
                paths, pixels = [], np.empty_like(pixels)
        if paths:
            yield paths, pixels[: len(paths)]

    def load(self) -> NDArray[np.uint8]:
        """Return all pictures at once, (N, H, W) or (N, H, W, 3)."""
        return next(pixels for _, pixels in self.batches(len(self)))

    def run(self, start: int, stop: int) -> NDArray[np.uint8]:
        """Those of the pictures number ``start`` to ``stop`` that are not left out."""
        found = [picture for _, picture in self._pixels(self.paths[start:stop])]
        return np.stack(found) if found else np.empty((0, *self.shape), np.uint8)

    def _pixels(self, paths: Sequence[Path] | None = None) -> Iterator[tuple[Path, NDArray[np.uint8]]]:
        first, shape = self._decided()
        channels = 1 if len(shape) == 2 else 3
        for path in self.paths if paths is None else paths:
            if path in self._unreadable:
                continue
            picture = self._read(path, channels)
            if picture is None:
                continue
            if picture.shape != shape:
                height, width = picture.shape[:2]
                raise DataError(
                    f"{path} is {height}×{width} but {first} is {shape[0]}×{shape[1]}; bring all to one "
                    "size, in Python with resize=(height, width) for a detector or size= for an ImageFolder, "
                    "on the command line with --resize HxW."
                )
            yield path, picture

    def _decided(self) -> tuple[Path, tuple[int, ...]]:
        """The first readable picture and the shape that all have."""
        if self._first is None:
            for place, path in enumerate(self.paths):
                picture = self._read(path, self.channels)
                if picture is not None:
                    shape = picture.shape
                    if self.channels is None and len(shape) == 2 and not _all_grey(self.paths[place + 1 :]):
                        shape = (*shape, 3)
                    self._first = path, shape
                    break
            else:
                raise DataError(f"{self.root} holds {len(self)} pictures and none of them can be read.")
        return self._first

    def _read(self, path: Path, channels: int | None) -> NDArray[np.uint8] | None:
        try:
            return read_image(path, size=self.size, channels=channels)
        except DataError as error:
            if self.on_error == "raise":
                raise
            self.leave_out(path, str(error))
            return None


def _all_grey(paths: Sequence[Path]) -> bool:
    """Whether all pictures are stored as grey ones; those that cannot be read are told of when they are."""
    for path in paths:
        try:
            if not is_stored_grey(path):
                return False
        except DataError:
            continue
    return True


def name_below(root: Path, path: Path) -> str:
    """The path below the folder, with escapes for bytes that are no text."""
    return path.relative_to(root).as_posix().encode("utf-8", "backslashreplace").decode()


def is_pattern(source: str | Path) -> bool:
    """Whether it is a pattern for files rather than the name of one.

    >>> is_pattern("photos/*.png"), is_pattern("photos")
    (True, False)
    """
    return glob.has_magic(str(source)) and not os.path.exists(source)  # noqa: PTH110 False for impossible names


def _fixed_part(pattern: str | Path) -> Path:
    """The folder that everything the pattern matches lies below."""
    parts = Path(pattern).parts[:-1]
    fixed = next((number for number, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    return Path(*parts[:fixed])


def _matches(pattern: str | Path) -> tuple[Path, ...]:
    suffixes = image_suffixes()
    found = [Path(name) for name in glob.glob(str(pattern), recursive=True)]  # noqa: PTH207 Path's needs a root
    pictures = [path for path in found if path.suffix.lower() in suffixes and path.is_file()]
    if not pictures:
        raise DataError(f"{pattern} matches no images; formats are told by suffix, such as .png or .jpg.")
    return tuple(sorted(pictures, key=lambda path: path.as_posix()))


def _pictures(root: Path) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """The pictures below a folder, and those in formats that are not read here."""
    if not root.is_dir():
        raise DataError(f"{root} is not a folder; name one that holds images.")

    def refuse(error: OSError) -> None:
        raise DataError(
            f"{error.filename} cannot be listed ({error.strerror}): see that it may be read."
        ) from error

    suffixes = image_suffixes()
    found, foreign, links = [], [], [root]
    visited: set[tuple[int, int]] = set()
    # Folders before links to them: a picture is called by where it lies, if that is below the root.
    while links:
        place = links.pop(0)
        for folder, subfolders, files in os.walk(place, onerror=refuse):
            there = Path(folder).stat()
            if (there.st_dev, there.st_ino) in visited:
                subfolders[:] = []
                continue
            visited.add((there.st_dev, there.st_ino))
            shown = sorted(name for name in subfolders if not name.startswith("."))
            linked = [name for name in shown if Path(folder, name).is_symlink()]
            links += [Path(folder, name) for name in linked]
            subfolders[:] = [name for name in shown if name not in linked]
            seen = [Path(folder, name) for name in files if not name.startswith(".")]
            found += [path for path in seen if path.suffix.lower() in suffixes]
            foreign += [path for path in seen if path.suffix.lower() in FOREIGN - suffixes.keys()]
    if not found and foreign:
        raise DataError(in_foreign_formats(root, foreign) + " and no others: save them as JPEG or PNG")
    if not found:
        raise DataError(f"{root} holds no images; formats are told by suffix, such as .png or .jpg.")
    return tuple(sorted(found, key=lambda path: path.relative_to(root).as_posix())), tuple(foreign)


def in_foreign_formats(root: Path, foreign: Sequence[Path]) -> str:
    """The beginning of a sentence about pictures that cannot be read."""
    first = min(name_below(root, path) for path in foreign)
    are = "1 picture in a format" if len(foreign) == 1 else f"{len(foreign)} pictures in formats"
    return f"{root} holds {are} that cannot be read ({first})"
