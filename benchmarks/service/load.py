"""Clients that keep a server busy: bare HTTP/1.1 on connections that stay open."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Answer",
    "Load",
    "Question",
    "answer_of",
    "ask_once",
    "equal_scores",
    "run_clients",
    "score_questions",
]

TOLERANCE = 1e-6  # relative: what the library promises for the same input in any company


@dataclass(frozen=True)
class Question:
    """A request, and the scores that its answer must hold."""

    request: bytes
    scores: tuple[float, ...]


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Load:
    """What happened to all requests."""

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    """Of each answer with a result."""
    inputs: int = 0
    """Scored."""
    lost: int = 0
    """Requests that were sent and never answered."""
    wrong: int = 0
    """Answers with other scores than the library's."""
    without_retry_after: int = 0
    """429s that do not say when to come back."""
    took: float = 0.0

    @property
    def requests(self) -> int:
        """All that were sent."""
        return sum(self.statuses.values()) + self.lost

    def to_record(self) -> dict[str, Any]:
        """JSON values."""
        quantiles = np.quantile(self.seconds, (0.5, 0.99)).tolist() if self.seconds else (None, None)
        return {
            "requests": self.requests,
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
            "inputs": self.inputs,
            "inputs_a_second": self.inputs / self.took if self.took else None,
            "p50_seconds": quantiles[0],
            "p99_seconds": quantiles[1],
            "lost": self.lost,
            "wrong": self.wrong,
            "without_retry_after": self.without_retry_after,
            "seconds": self.took,
        }


def score_questions(
    images: NDArray[np.uint8], scores: NDArray[np.float64], *, size: int, host: str
) -> list[Question]:
    """``POST /score`` with ``size`` pictures each."""
    from dissensus.report.pictures import picture

    questions = []
    for start in range(0, len(images) - size + 1, size):
        body = b""
        for number in range(start, start + size):
            head = f'--edge\r\nContent-Disposition: form-data; name="files"; filename="{number}.png"\r\n\r\n'
            body += head.encode() + picture(images[number]) + b"\r\n"
        body += b"--edge--\r\n"
        head = (
            f"POST /score HTTP/1.1\r\nHost: {host}\r\nContent-Type: multipart/form-data; boundary=edge\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        questions.append(Question(head.encode() + body, tuple(scores[start : start + size].tolist())))
    return questions


async def ask_once(host: str, port: int, path: str) -> Any:
    """The JSON answer of a GET."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        return json.loads((await answer_of(reader)).body)
    finally:
        writer.close()


async def run_clients(
    host: str,
    port: int,
    questions: Sequence[Question],
    *,
    clients: int,
    more: Callable[[], bool],
    meanwhile: Callable[[Load], Awaitable[None]] | None = None,
) -> Load:
    """Each client asks one question after the other while ``more()``, until its connection is closed."""
    load, began = Load(), time.perf_counter()
    numbers = iter(range(1 << 62))

    async def client() -> None:
        reader, writer = await asyncio.open_connection(host, port)
        try:
            while more():
                question = questions[next(numbers) % len(questions)]
                if await _ask(reader, writer, question, load):
                    return
        finally:
            writer.close()

    watching = asyncio.ensure_future(meanwhile(load)) if meanwhile is not None else None
    await asyncio.gather(*(client() for _ in range(clients)))
    load.took = time.perf_counter() - began
    if watching is not None:
        await watching
    return load


async def _ask(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, question: Question, load: Load
) -> bool:
    """Asks one question; whether the connection is to be used no more."""
    began = time.perf_counter()
    try:
        writer.write(question.request)
        await writer.drain()
        answer = await answer_of(reader)
    except (OSError, asyncio.IncompleteReadError):
        load.lost += 1
        return True
    load.statuses[answer.status] += 1
    if answer.status == 200:
        load.seconds.append(time.perf_counter() - began)
        found = [result["score"] for result in json.loads(answer.body)["results"]]
        load.inputs += len(found)
        load.wrong += not equal_scores(found, question.scores)
    elif answer.status == 429:
        load.without_retry_after += not answer.headers.get("retry-after", "").isdecimal()
        await asyncio.sleep(0.05)
    return answer.headers.get("connection", "").lower() == "close"


async def answer_of(reader: asyncio.StreamReader) -> Answer:
    """The next answer of a connection."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Answer(int(first.split()[1]), headers, body)


def equal_scores(found: Sequence[float | None], expected: Sequence[float]) -> bool:
    """Whether the scores of an answer are those that it must hold."""
    return len(found) == len(expected) and all(
        one is not None and math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=1e-9)
        for one, other in zip(found, expected, strict=True)
    )
