"""Pictures of a few bytes that take long to unpack: of many pixels, or of many scans."""

from __future__ import annotations

import asyncio
import io
import itertools
from collections.abc import Sequence

from benchmarks.service.attacks.target import Target

__all__ = ["large_pictures", "many_scans"]

SIDE, AT_ONCE, BOMBERS = 5000, 8, 4
# The first in 300 KB; of the second, a service that takes 25 million pixels in at most 40 scans decodes all.
MANY_SCANS, LET_THROUGH = 6000, 40


async def large_pictures(target: Target) -> None:
    """Has pictures unpacked that are a million times as large as their files."""
    from PIL import Image

    side = max(600, round(SIDE * target.scale**0.5))  # smaller ones are no trouble
    buffer = io.BytesIO()
    Image.new("RGBA", (side, side), (1, 2, 3, 4)).save(buffer, "WEBP", lossless=True, quality=0, method=0)
    await _send(target, AT_ONCE, [_request(target, "a.webp", buffer.getvalue())])


async def many_scans(target: Target) -> None:
    """Has pictures unpacked with thousands of scans, and with as many as are let through."""
    side = max(600, round(SIDE * target.scale**0.5))
    contents = [jpeg_with_scans(side, scans) for scans in (MANY_SCANS, LET_THROUGH)]
    await _send(target, BOMBERS, [_request(target, "a.jpg", content) for content in contents])


def jpeg_with_scans(side: int, scans: int) -> bytes:
    """A flat progressive JPEG of so many pixels a side: a decoder goes over all of them in each scan."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("L", (side, side), 128).save(buffer, "JPEG", progressive=True)
    content = buffer.getvalue()
    last = content[content.rindex(b"\xff\xda") : -2]
    return content[:-2] + last * (scans - content.count(b"\xff\xda")) + b"\xff\xd9"


def _request(target: Target, name: str, content: bytes) -> bytes:
    """A form with one picture."""
    body = (
        b'--edge\r\nContent-Disposition: form-data; name="files"; filename="%b"\r\n\r\n' % name.encode()
        + content
        + b"\r\n--edge--\r\n"
    )
    head = target.head(
        "/score?convert=true",
        "Content-Type: multipart/form-data; boundary=edge",
        f"Content-Length: {len(body)}",
    )
    return head + body


async def _send(target: Target, clients: int, requests: Sequence[bytes]) -> None:
    """Each client sends one after the other, as soon as it has an answer."""

    async def send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for request in itertools.cycle(requests):
            writer.write(request)
            if not target.left or not await reader.read(1 << 16):
                return

    await target.clients(clients, send)
