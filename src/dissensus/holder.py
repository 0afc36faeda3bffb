"""The name of the process that holds a lock, as text for others, and whether it can still be at work."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

__all__ = ["Holder"]

# File systems whose locks may be known to one machine only, although several can use them at once.
LOCKS_OF_ONE_MACHINE = re.compile(
    r"^(fuse\b.*|9p|virtiofs|nfs4? .*\blocal_lock=(flock|all)\b.*|cifs .*nobrl.*)"
)


@dataclass(frozen=True)
class Holder:
    """Who holds a lock; without arguments, this process."""

    pid: int = field(default_factory=os.getpid)
    host: str = field(default_factory=platform.node)
    since: str = field(default_factory=lambda: f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC")
    boot: str = field(default_factory=lambda: _one_line("/proc/sys/kernel/random/boot_id"))
    """Differs between machines and between the starts of one; containers of one machine share it."""
    processes: str = field(default_factory=lambda: _link("/proc/self/ns/pid"))
    """Among which processes ``pid`` is the number of one: every container counts its own."""

    @classmethod
    def parse(cls, text: bytes) -> Self | None:
        """The holder that wrote the text; None if the text names nobody."""
        try:
            found = json.loads(text)
            return cls(int(found["pid"]), *(str(found[k]) for k in ("host", "since", "boot", "processes")))
        except (ValueError, TypeError, KeyError, RecursionError):
            return None

    def text(self) -> bytes:
        """One line that :meth:`parse` reads."""
        return json.dumps(asdict(self)).encode() + b"\n"

    def __str__(self) -> str:
        own = self.pid == os.getpid() and self.host == platform.node()
        return f"process {self.pid}{' (this one)' if own else ''} on {self.host} since {self.since}"

    def is_dead(self) -> bool:
        """Whether the process has certainly ended: only then does this answer yes."""
        here = Holder()
        if not self.boot or self.host != here.host:
            return False
        if self.boot != here.boot:
            return True  # this machine was started again since
        if self.processes != here.processes or sys.platform == "win32":  # there os.kill ends processes
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return False

    def may_live_elsewhere(self, file: Path) -> bool:
        """Whether the holder is on another machine, whose lock of the file this one would not see."""
        here = Holder()
        if self.boot == here.boot or self.host == here.host:
            return False
        return LOCKS_OF_ONE_MACHINE.match(_file_system(file)) is not None


def _file_system(file: Path) -> str:
    """The kind and the options of the file system that a file is on; nothing where they cannot be known."""
    try:
        device = file.stat().st_dev
        lines = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ""
    number = f"{os.major(device)}:{os.minor(device)}"
    for line in lines:
        mount, _, kind = line.partition(" - ")
        if mount.split()[2] == number:
            name, _, options = kind.split(" ", 2)
            return f"{name} {options}"
    return ""


def _one_line(file: str) -> str:
    try:
        return Path(file).read_text("utf-8").strip()
    except OSError:
        return ""


def _link(file: str) -> str:
    try:
        return str(Path(file).readlink())
    except OSError:
        return ""
