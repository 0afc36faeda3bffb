"""The structure of a picture file, read from its headers: what there is to decode, before it is decoded."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Structure", "bmp_structure", "gif_structure", "png_structure", "webp_structure"]

MOST_PARTS = 100_000  # after so many nobody counts on


@dataclass(frozen=True)
class Structure:
    """What a decoder will find in a picture file."""

    kind: str
    """Pillow's name of the format."""
    width: int
    height: int
    scans: int = 1
    """How often a decoder goes over all pixels."""
    parts: int = 1
    """Chunks, segments or blocks, each of which Pillow reads by a step of its own."""
    metadata: int = 0
    """Bytes of all that is neither pixels nor tables for them: profiles, texts, what the camera noted."""
    proportionate: bool = True
    """Whether the time to decode it is known to be in proportion to these numbers."""

    @property
    def work(self) -> int:
        """Pixels that a decoder goes over, all scans together."""
        return self.width * self.height * max(1, self.scans)


def png_structure(content: bytes) -> Structure:
    """Return the structure of a PNG file; interlacing is seven passes over disjoint pixels, so one scan."""
    width, height = (int.from_bytes(content[place : place + 4], "big") for place in (16, 20))
    position, parts, metadata = 8, 0, 0
    while position + 8 <= len(content) and parts <= MOST_PARTS:
        length = int.from_bytes(content[position : position + 4], "big")
        kind = content[position + 4 : position + 8]
        parts += 1
        if kind == b"IEND":
            break
        if kind not in (b"IHDR", b"PLTE", b"IDAT"):
            metadata += length
        position += 12 + length
    return Structure("PNG", width, height, 1, parts, metadata, content[12:16] == b"IHDR")


def gif_structure(content: bytes) -> Structure:
    """Return the structure of a GIF file up to its first picture, which is the one that is decoded."""
    width, height = _little(content, 6, 2), _little(content, 8, 2)
    position, parts, metadata, regular = 13 + _colours(content, 10), 0, 0, True
    while position < len(content) and parts <= MOST_PARTS:
        kind = content[position]
        parts += 1
        if kind == 0x2C:  # a picture, which may be larger than the screen it was made for
            left, top, own_width, own_height = (_little(content, position + at, 2) for at in (1, 3, 5, 7))
            width, height = max(width, left + own_width), max(height, top + own_height)
            break
        if kind == 0x3B:  # the end
            break
        position += 1
        if kind != 0x21:  # only an extension has blocks; anything else is one byte that Pillow skips
            continue
        position += 1
        # Behind an extension that begins with its own end Pillow reads on as nobody else does.
        regular = regular and content[position : position + 1] != b"\0"
        while position < len(content) and parts <= MOST_PARTS:
            length = content[position]
            position += 1 + length
            parts += 1
            metadata += length
            if not length:
                break
    return Structure("GIF", width, height, 1, parts, metadata, regular)


def webp_structure(content: bytes) -> Structure:
    """Return the structure of a WebP file; of an animation only the first picture is decoded."""
    width = height = parts = metadata = 0
    position = 12
    while position + 8 <= len(content) and parts <= MOST_PARTS:
        kind, length = content[position : position + 4], _little(content, position + 4, 4)
        start = position + 8
        parts += 1
        if kind == b"VP8X":
            width, height = 1 + _little(content, start + 4, 3), 1 + _little(content, start + 7, 3)
        elif kind == b"VP8 ":
            width = max(width, _little(content, start + 6, 2) & 0x3FFF)
            height = max(height, _little(content, start + 8, 2) & 0x3FFF)
        elif kind == b"VP8L":
            sides = _little(content, start + 1, 4)
            width, height = max(width, 1 + (sides & 0x3FFF)), max(height, 1 + (sides >> 14 & 0x3FFF))
        elif kind not in (b"ALPH", b"ANIM", b"ANMF"):
            metadata += length
        position = start + length + length % 2
    return Structure("WEBP", width, height, 1, parts, metadata, width > 0)


def bmp_structure(content: bytes) -> Structure:
    """Return the structure of a BMP file; those with runs are decoded byte by byte in Python, and slowly."""
    if _little(content, 14, 4) == 12:
        return Structure("BMP", _little(content, 18, 2), _little(content, 20, 2))
    width, height = (
        abs(int.from_bytes(content[place : place + 4], "little", signed=True)) for place in (18, 22)
    )
    runs = _little(content, 30, 4) in (1, 2)
    return Structure("BMP", width, height, proportionate=not runs)


def _little(content: bytes, place: int, size: int) -> int:
    return int.from_bytes(content[place : place + size], "little")


def _colours(content: bytes, place: int) -> int:
    """Bytes of the table of colours that these flags of a GIF announce."""
    flags = content[place] if place < len(content) else 0
    return 3 << 1 + (flags & 7) if flags & 0x80 else 0
