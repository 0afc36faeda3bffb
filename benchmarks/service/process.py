"""A server as a process of its own, as an operator starts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from dissensus.errors import DissensusError

__all__ = ["MEMORY", "ServerProcess", "server_process"]

MEMORY = Path("/proc")
PATIENCE = 180.0  # seconds for a process to end


class ServerProcess:
    """``dissensus serve`` with its address."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self._process = process
        parts = urlsplit(address)
        self.host, self.port = parts.hostname or "", parts.port or 0

    def memory(self) -> float:
        """Resident memory in MiB."""
        return _memory(self._process.pid, "VmRSS")

    def memory_of_all(self) -> float:
        """Resident memory in MiB, with that of the processes that it has started."""
        return sum(_memory(process, "VmRSS") for process in self._family())

    def processor_seconds(self) -> float:
        """Processor time that it and the processes that it has started have taken so far."""
        return sum(map(_processor_seconds, self._family()))

    def _family(self) -> list[int]:
        own = self._process.pid
        children: list[int] = []
        with suppress(OSError):  # a thread, or all of it, may have ended
            for tasks in (MEMORY / str(own) / "task").glob("*/children"):
                children += map(int, tasks.read_text("utf-8").split())
        return [own, *children]

    def terminate(self) -> None:
        """Asks it to end, as systemd and containers do."""
        self._process.send_signal(signal.SIGTERM)

    def exit_code(self) -> int:
        """Of the ended process."""
        return self._process.wait(PATIENCE)


@contextmanager
def server_process(
    gate: Path,
    *options: str,
    source: Path | None = None,
    files: int | None = None,
    log: IO[str] | None = None,
) -> Iterator[ServerProcess]:
    """Starts a server for the block; with an address as soon as it answers.

    ``source`` is a folder with another version's package, ``files`` how many files the server may have open,
    ``log`` where it writes.
    """
    command = [sys.executable, "-m", "dissensus", "serve", str(gate), "--port", "0", *options]
    if files is not None:  # of both limits: it could raise one of them itself
        command = ["/bin/sh", "-c", f'ulimit -n {files} && exec "$@"', "sh", *command]
    environment = dict(os.environ) if source is None else {**os.environ, "PYTHONPATH": str(source)}
    with ExitStack() as stack:
        log = stack.enter_context(tempfile.TemporaryFile("w+")) if log is None else log
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            if not address.startswith("http"):
                raise DissensusError(f"the server did not start: {_last(log)}")
            yield ServerProcess(process, address)
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            assert process.stdout is not None
            process.stdout.close()


def _memory(process: int, field: str) -> float:
    """MiB of a process, as a field of its status tells; 0 if it has ended."""
    try:
        status = (MEMORY / str(process) / "status").read_text("utf-8")
    except OSError:
        return 0.0
    found = (line for line in status.splitlines() if line.startswith(field))
    return next((int(line.split()[1]) / 1024 for line in found), 0.0)


def _processor_seconds(process: int) -> float:
    """Of a process, in its own code and in the system's; 0 if it has ended, or where there is no /proc."""
    try:
        fields = (MEMORY / str(process) / "stat").read_text("utf-8").rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _last(log: IO[str]) -> str:
    log.seek(0)
    lines = log.read().strip().splitlines()
    return lines[-1] if lines else "it said nothing"
