"""Uploaded pictures: of a few well-kept formats, known by their first bytes, of bounded size."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dissensus.data import read_image
from dissensus.data.chunks import as_pixels
from dissensus.errors import DataError
from dissensus.serve.refusals import clear

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dissensus.serve.forms import Upload

__all__ = ["Pictures", "gather_pictures", "read_pictures", "sniff"]

TAKEN = "PNG, JPEG, WebP, GIF or BMP"


class Pictures(NamedTuple):
    """What became of N uploads."""

    pixels: NDArray[np.uint8]
    """(n, H, W, C), of those n that could be read, in order."""
    problems: dict[int, str]
    """Upload → why it could not."""


def read_pictures(
    uploads: Sequence[Upload],
    shape: tuple[int, ...],
    *,
    resize: tuple[int, int] | None,
    convert: bool,
    most_pixels: int,
) -> Iterator[NDArray[np.uint8] | str]:
    """Each upload as pixels of ``shape`` (H, W, C), as the library reads files of the same bytes, or why not.

    ``resize`` is the gate's own; with ``convert`` pictures of any size and colour are brought to its shape.
    """
    size = shape[:2] if convert else resize
    channels = shape[2] if convert or shape[2] == 3 else None
    for upload in uploads:
        try:
            picture = read_image(
                BytesIO(upload.content),
                size=None if size is None else (size[0], size[1]),
                channels=channels,
                formats=[sniff(upload.content)],
                most_pixels=most_pixels,
            )
            yield as_pixels(picture, shape, name="the picture")
        except DataError as error:
            # What helps on the command line is called otherwise here.
            yield clear(str(error)).replace("on the command line with --resize", "or ask with ?convert=true")


def gather_pictures(found: Sequence[NDArray[np.uint8] | str], shape: tuple[int, ...]) -> Pictures:
    """What :func:`read_pictures` yielded, with the pixels of those that could be read in one array."""
    pixels = [one for one in found if not isinstance(one, str)]
    problems = {number: one for number, one in enumerate(found) if isinstance(one, str)}
    return Pictures(np.stack(pixels) if pixels else np.empty((0, *shape), np.uint8), problems)


def sniff(content: bytes) -> str:
    r"""Pillow's name of the format that the first bytes tell; a DataError where they tell none of ours.

    >>> sniff(b"\x89PNG\r\n\x1a\n...")
    'PNG'
    """
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if content.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "WEBP"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "GIF"
    if content.startswith(b"BM"):
        return "BMP"
    raise DataError(f"the file is no picture in {TAKEN}" if content else "the file is empty")
