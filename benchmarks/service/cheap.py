"""Clients that cost next to nothing, in a process of their own: one thread waits for all sockets at once.

On two cores a client that reads JSON takes as much as the server's answers. Here requests are bytes made
beforehand, and answers are kept as they come, to be looked at when the clock has stopped.
"""

from __future__ import annotations

import json
import pickle
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.places import ROOT
from benchmarks.service.load import Load, Question, equal_scores

__all__ = ["Asked", "ask_all", "cheap_clients"]

READ = 1 << 16
END, LENGTH = b"\r\n\r\n", b"content-length:"


@dataclass
class Asked:
    """What was asked and answered."""

    seconds: list[float] = field(default_factory=list)
    """Of each answer."""
    answers: list[tuple[int, bytes]] = field(default_factory=list)
    """Which question, and all that came back."""
    took: float = 0.0
    processor: float = 0.0
    """Seconds of processor time that the clients took."""
    lost: int = 0
    """Questions that were sent and never answered, for their connection was closed."""


def cheap_clients(
    host: str, port: int, questions: Sequence[Question], *, clients: int, seconds: float
) -> tuple[Load, float]:
    """What became of all questions, and the processor time of the clients, which run in another process."""
    with tempfile.TemporaryDirectory() as folder:
        asked_of, told = Path(folder) / "asked", Path(folder) / "told"
        requests = [question.request for question in questions]
        asked_of.write_bytes(pickle.dumps((host, port, requests, clients, seconds)))
        command = [sys.executable, "-m", __name__, str(asked_of), str(told)]
        subprocess.run(command, check=True, cwd=ROOT)
        # Another program's file, but one that was made by this function a moment ago.
        found: Asked = Asked(**pickle.loads(told.read_bytes()))  # noqa: S301
    load = Load(seconds=found.seconds, lost=found.lost, took=found.took)
    for number, answer in found.answers:
        head, _, body = answer.partition(END)
        status = int(head.split(b" ", 2)[1])
        load.statuses[status] += 1
        if status == 200:
            scores = [result["score"] for result in json.loads(body)["results"]]
            load.inputs += len(scores)
            load.wrong += not equal_scores(scores, questions[number].scores)
    return load, found.processor


@dataclass
class _Client:
    question: int = 0
    sent: float = 0.0
    received: bytearray = field(default_factory=bytearray)


def ask_all(host: str, port: int, requests: list[bytes], *, clients: int, seconds: float) -> Asked:
    """Each client asks one question after the other for so long; then all wait for their last answers."""
    found, numbers = Asked(), iter(range(1 << 62))
    with selectors.DefaultSelector() as selector:

        def ask(connection: socket.socket, client: _Client) -> None:
            client.question, client.sent = next(numbers) % len(requests), time.perf_counter()
            client.received.clear()
            connection.sendall(requests[client.question])

        began, busy = time.perf_counter(), time.process_time()
        for _ in range(clients):
            own = socket.create_connection((host, port))
            own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            selector.register(own, selectors.EVENT_READ, first := _Client())
            ask(own, first)
        while selector.get_map():
            for key, _ in selector.select():
                assert isinstance(key.fileobj, socket.socket)
                connection, client = key.fileobj, key.data
                more = connection.recv(READ)
                client.received += more
                if more and not _whole(client.received):
                    continue
                now = time.perf_counter()
                if more:
                    found.seconds.append(now - client.sent)
                    found.answers.append((client.question, bytes(client.received)))
                else:
                    found.lost += 1
                if more and now < began + seconds:
                    ask(connection, client)
                else:
                    selector.unregister(connection)
                    connection.close()
        found.took, found.processor = time.perf_counter() - began, time.process_time() - busy
    return found


def _whole(received: bytearray) -> bool:
    """Whether an answer is there to its end."""
    end = received.find(END)
    if end < 0:
        return False
    start = received[:end].lower().find(LENGTH) + len(LENGTH)
    return len(received) >= end + len(END) + int(received[start:end].split(b"\r\n", 1)[0])


if __name__ == "__main__":
    asked_of, told = map(Path, sys.argv[1:])
    host, port, requests, clients, seconds = pickle.loads(asked_of.read_bytes())  # noqa: S301 our own
    told.write_bytes(pickle.dumps(vars(ask_all(host, port, requests, clients=clients, seconds=seconds))))
