"""The structure of a JPEG file, read from its markers: nothing is decoded.

A decoder goes over all pixels once for every scan, and a scan of a flat picture takes fifty bytes. So a file
of 300 KB can hold thousands of scans and keep a decoder busy for minutes.
"""

from __future__ import annotations

import re

from dissensus.inputs.picture_structure import Structure

__all__ = ["MOST_SEGMENTS", "jpeg_structure"]

# After so many segments nobody counts on. A file that fills all 255 segments a colour profile may take, and
# has a hundred scans with tables of their own, has half as many.
MOST_SEGMENTS = 1000

# A marker as libjpeg finds it, inside coded data too: FF and a byte. FF 00 is a coded FF; FF 01, the restarts
# (D0 to D7) and D8 have no segment behind them; of several FF only the last counts.
_MARKER = re.compile(rb"\xff([^\x00\x01\xd0-\xd8\xff])")
_END, _SCAN, _COMMENT = 0xD9, 0xDA, 0xFE
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # those three are tables
_APPLICATION = range(0xE0, 0xF0)


def jpeg_structure(content: bytes) -> Structure:
    """Return the size of a JPEG picture, how many scans it has, and how much in it is no picture.

    Counting ends behind :data:`MOST_SEGMENTS` segments, so that a file of nothing but markers costs little.
    """
    width = height = scans = segments = metadata = 0
    position = 2
    while segments <= MOST_SEGMENTS and (found := _MARKER.search(content, position)):
        marker, position = found[1][0], found.end()
        if (
            marker == _END
        ):  # what stands behind it, such as the other pictures of a phone's camera, is not read
            break
        length = max(2, int.from_bytes(content[position : position + 2], "big"))
        segments += 1
        if marker == _SCAN:
            scans += 1
        elif marker in _FRAMES:
            height = max(height, int.from_bytes(content[position + 3 : position + 5], "big"))
            width = max(width, int.from_bytes(content[position + 5 : position + 7], "big"))
        elif marker in _APPLICATION or marker == _COMMENT:
            metadata += length
        position += length
    return Structure("JPEG", width, height, scans, segments, metadata)
