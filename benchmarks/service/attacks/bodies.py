"""Bodies that cost the receiver more than the sender."""

from __future__ import annotations

import asyncio

from benchmarks.service.attacks.target import Target

__all__ = ["near_boundaries", "stalled_uploads", "tiny_chunks"]

LARGEST = 32 << 20  # bytes: what a service takes by default
FORM = "Content-Type: multipart/form-data; boundary=edge"
PART = b'--edge\r\nContent-Disposition: form-data; name="files"; filename="a.png"\r\n\r\n'
ALMOST, END = b"\r\n--edge-", b"\r\n--edge--\r\n"
UPLOADS, FORMS, CHUNKED = 8, 2, 4


async def stalled_uploads(target: Target) -> None:
    """Sends all of a large body but its last byte, and keeps it."""
    size = target.scaled(LARGEST)
    head = target.head("/score", FORM, f"Content-Length: {size}")

    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head + bytes(size - 1))
        await reader.read()

    await target.clients(UPLOADS, stall)


async def near_boundaries(target: Target) -> None:
    """Sends forms whose every few bytes might begin a boundary."""
    body = PART + ALMOST * ((target.scaled(LARGEST) - len(PART) - len(END)) // len(ALMOST)) + END
    request = target.head("/score", FORM, f"Content-Length: {len(body)}") + body

    async def send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while target.left:
            writer.write(request)
            if not await reader.read(1 << 16):
                return

    await target.clients(FORMS, send)


async def tiny_chunks(target: Target) -> None:
    """Sends bodies in chunks of a byte each, and goes on whatever is answered."""
    head = target.head("/score", FORM, "Transfer-Encoding: chunked")
    chunks = b"1\r\nx\r\n" * (1 << 14)

    async def send(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while target.left and not writer.transport.is_closing():
            writer.write(chunks)
            await writer.drain()

    await target.clients(CHUNKED, send)
