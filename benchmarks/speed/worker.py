"""Another process to time something in, asked by lines of JSON.

What runs there has memory, threads and packages of its own: neither side of a comparison profits or suffers
from what the other does to its process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from types import TracebackType
from typing import Any, Self

from benchmarks.places import ROOT
from dissensus.errors import DissensusError

__all__ = ["Worker", "answer_requests"]


class Worker(AbstractContextManager["Worker"]):
    """A running process that answers requests one by one."""

    def __init__(self, command: Sequence[str], *, surroundings: Mapping[str, str] | None = None) -> None:
        self.name = command[-1]
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(surroundings or {})},
        )

    def ask(self, do: str, **arguments: Any) -> Any:
        """What the process answers to a request."""
        self.send(do, **arguments)
        return self.answer(do)

    def send(self, do: str, **arguments: Any) -> None:
        """Sends a request; :meth:`answer` waits for what is answered."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):  # there will be no answer, and the process has said why
            self.process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self.process.stdin.flush()

    def answer(self, do: str) -> Any:
        """What the process answers to the request that was sent."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            assert self.process.stderr is not None
            said = self.process.stderr.read().strip().splitlines()
            raise DissensusError(f"{self.name} failed at {do!r}: {said[-1] if said else 'it said nothing'}")
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def answer_requests(handlers: Mapping[str, Callable[..., Any]]) -> None:
    """The other side: until the input ends, each line's ``do`` names who answers it."""
    for line in sys.stdin:
        request = json.loads(line)
        answer = handlers[request.pop("do")](**request)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
