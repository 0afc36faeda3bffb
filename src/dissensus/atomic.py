"""Files that are either whole or not there: written beside the target, then moved over it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["atomic_path"]


@contextmanager
def atomic_path(target: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path in the target's folder that replaces the target when the block ends well.

    If the block fails, or the process dies, whatever stood at ``target`` before is untouched.
    """
    target = Path(target)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # Without the fsync a power cut could leave a renamed but empty file.
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    """The process's file mode mask; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
