"""Connections that hold a place and give nothing for it."""

from __future__ import annotations

import asyncio
import socket

from benchmarks.service.attacks.target import Target

__all__ = ["never_reading", "silent"]

SILENT, DEAF = 1100, 270
PIPELINED = 200  # requests that each sends before it would have to read


async def silent(target: Target) -> None:
    """Connects and says nothing; whoever is thrown out comes again."""

    async def wait(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    await target.clients(target.scaled(SILENT), wait)


async def never_reading(target: Target) -> None:
    """Asks for a long answer many times in a row, and reads none of them."""
    request = target.head("/openapi.json", method="GET") * PIPELINED

    async def ask(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        transport = writer.transport
        transport.pause_reading()  # type: ignore[attr-defined]  # a socket's transport
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        while target.left and not transport.is_closing():
            writer.write(request)
            await writer.drain()

    await target.clients(target.scaled(DEAF), ask)
