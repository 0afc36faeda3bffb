"""What it will cost to decode a picture, bounded before it is decoded.

Decoding PNG, JPEG, WebP, GIF and BMP takes time in proportion to the pixels (for JPEG: times the scans), the
bytes, the parts and the metadata, all of which the headers tell. Nothing of the kind is known of the other
formats that Pillow reads, some of which hold JPEG, compressed streams or other pictures inside: those are
decoded where they can be stopped (:mod:`dissensus.inputs.decoder_process`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dissensus.errors import DataError
from dissensus.inputs.jpeg_scans import MOST_SEGMENTS, jpeg_structure
from dissensus.inputs.picture_structure import (
    Structure,
    bmp_structure,
    gif_structure,
    png_structure,
    webp_structure,
)

__all__ = ["LIGHT", "ORDINARY", "Bounds", "CostlyPictureError", "examine", "picture_format"]

MOST_SCANS = 100  # as in libtiff; programs write about 10, and libjpeg-turbo's own tools advise 500 at most
# Pixels times scans. A scan of a flat picture takes 0.7 ns a pixel, one with many details 20 times as long:
# some ten seconds at most. The largest picture that Pillow opens, of 89 million pixels, may have 11 scans.
MOST_WORK = 1_000_000_000

_STRUCTURES: dict[str, Callable[[bytes], Structure]] = {
    "PNG": png_structure,
    "JPEG": jpeg_structure,
    "WEBP": webp_structure,
    "GIF": gif_structure,
    "BMP": bmp_structure,
}


class CostlyPictureError(DataError):
    """The picture is refused because decoding it would take too long."""


@dataclass(frozen=True)
class Bounds:
    """A picture within these bounds is decoded in a time that is known beforehand."""

    size: int
    """Bytes of the file."""
    work: int
    """Pixels times scans."""
    parts: int
    """Pillow takes a few microseconds for each."""
    metadata: int
    """Bytes. A colour profile or a text unpacks to 1000 times its size. Of what a camera noted, versions of
    Pillow before 13 read as many pieces as there are entries, each of up to all of it: a twelfth of the
    square, which is 0.4 GB for 64 KiB."""

    def hold(self, size: int, structure: Structure) -> bool:
        """Whether a picture of ``size`` bytes and this structure lies within the bounds."""
        return (
            structure.proportionate
            and size <= self.size
            and structure.work <= self.work
            and structure.parts <= self.parts
            and structure.metadata <= self.metadata
        )


LIGHT = Bounds(size=1 << 18, work=1 << 18, parts=100, metadata=1 << 13)
"""Decoded within about 50 ms whatever the bytes are: so short that nobody needs to be able to stop it."""
ORDINARY = Bounds(size=1 << 29, work=MOST_WORK, parts=100_000, metadata=1 << 16)
"""Decoded within seconds on end, which is no harm where nobody else waits."""


def picture_format(content: bytes) -> str | None:
    r"""Return Pillow's name of the format that the first bytes tell, if it is one of those known here.

    >>> picture_format(b"\x89PNG\r\n\x1a\n..."), picture_format(b"II*\0")
    ('PNG', None)
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
    return None


def examine(content: bytes, *, name: str = "the picture", most_pixels: int | None = None) -> Structure | None:
    """Return the structure of a picture file, or None if it is of none of the five formats.

    A picture of more than ``most_pixels`` pixels, or with so many scans that decoding it would take minutes,
    is a :class:`CostlyPictureError`, whose message calls the picture ``name``.
    """
    kind = picture_format(content)
    if kind is None:
        return None
    found = _STRUCTURES[kind](content)
    if most_pixels is not None and found.width * found.height > most_pixels:
        raise CostlyPictureError(
            f"{name} has {found.width}×{found.height} pixels, and {most_pixels} in all are the most: make it "
            "smaller."
        )
    again = "save it again as an ordinary JPEG"
    if found.scans > MOST_SCANS:
        raise CostlyPictureError(f"{name} has more than {MOST_SCANS} scans, each of all its pixels: {again}.")
    if kind == "JPEG" and found.parts > MOST_SEGMENTS:
        raise CostlyPictureError(f"{name} has more than {MOST_SEGMENTS} segments: {again}.")
    if found.scans > 1 and found.work > MOST_WORK:
        raise CostlyPictureError(
            f"{name} has {found.scans} scans of {found.width}×{found.height} pixels, which take too long to "
            f"decode: {again}."
        )
    return found
