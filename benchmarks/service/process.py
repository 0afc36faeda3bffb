"""A server as a process of its own, as an operator starts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from dissensus.errors import DissensusError

__all__ = ["MEMORY", "ServerProcess", "server_process"]

MEMORY = Path("/proc")
PATIENCE = 60.0  # seconds for a process to end


class ServerProcess:
    """``dissensus serve`` with its address."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self._process = process
        parts = urlsplit(address)
        self.host, self.port = parts.hostname or "", parts.port or 0

    def memory(self) -> float:
        """Resident memory in MiB."""
        status = (MEMORY / str(self._process.pid) / "status").read_text("utf-8")
        return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))

    def terminate(self) -> None:
        """Asks it to end, as systemd and containers do."""
        self._process.send_signal(signal.SIGTERM)

    def exit_code(self) -> int:
        """Of the ended process."""
        return self._process.wait(PATIENCE)


@contextmanager
def server_process(gate: Path, *options: str) -> Iterator[ServerProcess]:
    """Starts a server for the block; with an address as soon as it answers."""
    command = [sys.executable, "-m", "dissensus", "serve", str(gate), "--port", "0", *options]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=os.environ)
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


def _last(log: IO[str]) -> str:
    log.seek(0)
    lines = log.read().strip().splitlines()
    return lines[-1] if lines else "it said nothing"
