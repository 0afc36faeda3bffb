"""Pictures of a few bytes and many pixels."""

from __future__ import annotations

import asyncio
import io

from benchmarks.service.attacks.target import Target

__all__ = ["large_pictures"]

SIDE, AT_ONCE = 5000, 8


async def large_pictures(target: Target) -> None:
    """Has pictures unpacked that are a million times as large as their files."""
    from PIL import Image

    side = max(600, round(SIDE * target.scale**0.5))  # smaller ones are no trouble
    buffer = io.BytesIO()
    Image.new("RGBA", (side, side), (1, 2, 3, 4)).save(buffer, "WEBP", lossless=True, quality=0, method=0)
    body = (
        b'--edge\r\nContent-Disposition: form-data; name="files"; filename="a.webp"\r\n\r\n'
        + buffer.getvalue()
        + b"\r\n--edge--\r\n"
    )
    request = (
        target.head(
            "/score?convert=true",
            "Content-Type: multipart/form-data; boundary=edge",
            f"Content-Length: {len(body)}",
        )
        + body
    )

    async def send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while target.left:
            writer.write(request)
            if not await reader.read(1 << 16):
                return

    await target.clients(AT_ONCE, send)
