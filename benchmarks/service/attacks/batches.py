"""Honest requests, but as large as they may be."""

from __future__ import annotations

import asyncio
import json

from benchmarks.service.attacks.target import HOST, Target
from benchmarks.service.load import answer_of, ask_once

__all__ = ["large_batches"]

CLIENTS, INPUTS = 2, 256


async def large_batches(target: Target) -> None:
    """Asks for as many inputs at once as a request may hold, again and again."""
    gate = (await ask_once(HOST, target.port, "/gates"))["default"]
    (tensor,) = (await ask_once(HOST, target.port, f"/v2/models/{gate}"))["inputs"]
    shape = [target.scaled(INPUTS), *tensor["shape"][1:]]
    count = 1
    for side in shape:
        count *= side
    size = count * (1 if tensor["datatype"] == "UINT8" else 8)
    about = tensor | {"shape": shape, "parameters": {"binary_data_size": size}}
    head = json.dumps({"inputs": [about]}).encode()
    request = (
        target.head(
            f"/v2/models/{gate}/infer",
            f"Inference-Header-Content-Length: {len(head)}",
            f"Content-Length: {len(head) + size}",
        )
        + head
        + bytes(size)
    )

    async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while target.left:
            writer.write(request)
            if (await answer_of(reader)).headers.get("connection", "").lower() == "close":
                return

    await target.clients(CLIENTS, ask)
