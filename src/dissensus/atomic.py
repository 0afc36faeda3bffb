"""Files and folders that are either whole or not there: written beside the target, then moved over it."""

from __future__ import annotations

import ctypes
import errno
import glob
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["atomic_folder", "atomic_path", "present"]

ABANDONED = 24 * 3600.0  # seconds; nothing takes a day to write, so its writer must have died


@contextmanager
def atomic_path(target: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path in the target's folder that replaces the target when the block ends well.

    If the block fails, or the process dies, whatever stood at ``target`` before is untouched. Of a link, what
    it names is replaced. A device or a pipe never is: it is an OSError.
    """
    target = Path(os.path.realpath(target))
    if target.exists() and not target.is_file() and not target.is_dir():
        raise OSError(errno.EINVAL, "It is no regular file", str(target))
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


@contextmanager
def atomic_folder(target: str | os.PathLike[str]) -> Iterator[Path]:
    """A new folder beside the target that replaces the target, files and all, when the block ends well.

    If the block fails, the old folder stays. If the process dies, the old or the new one is at ``target``;
    where the system cannot swap two folders in one step, the old one may be at the name that
    :func:`present` knows. What dead processes left beside the target is removed after a day.
    """
    target = Path(os.path.realpath(target))  # what a link names is replaced, not the link
    target.parent.mkdir(parents=True, exist_ok=True)
    _tidy(target)
    with tempfile.TemporaryDirectory(
        dir=target.parent, prefix=f".{target.name}.", suffix=".tmp", ignore_cleanup_errors=True
    ) as beside:
        new = Path(beside, "new")
        new.mkdir()
        yield new
        for path in (*new.iterdir(), new):
            _to_disk(path)
        _replace(target, by=new)
        _to_disk(target.parent)


def present(target: str | os.PathLike[str]) -> Path:
    """Where the folder is now: at ``target``, or aside if a process died in the middle of replacing it."""
    target = Path(os.path.realpath(target))
    return target if target.exists() or not _aside(target).is_dir() else _aside(target)


def _replace(target: Path, *, by: Path) -> None:
    """Moves ``by`` to ``target``; an older folder there is swapped out, or moved aside and then removed."""
    if not target.exists():
        by.rename(target)
    elif not _swapped(by, target):
        target.rename(_aside(target))
        try:
            by.rename(target)
        except BaseException:  # an interruption too must not cost the older one
            _aside(target).rename(target)
            raise
    shutil.rmtree(_aside(target), ignore_errors=True)


def _aside(target: Path) -> Path:
    return target.with_name(f".{target.name}.previous")


def _tidy(target: Path) -> None:
    """Brings back the older folder that a dead process moved aside, and removes what others left."""
    if not target.exists() and _aside(target).is_dir():
        _aside(target).rename(target)
    else:  # its writer died just before removing it
        shutil.rmtree(_aside(target), ignore_errors=True)
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
        if left.is_dir() and time.time() - left.stat().st_mtime > ABANDONED:
            shutil.rmtree(left, ignore_errors=True)


def _swapped(one: Path, other: Path) -> bool:
    """Swaps two folders in one step, where the system and the file system can."""
    first, second = os.fsencode(one), os.fsencode(other)
    try:
        system = ctypes.CDLL(None)
        if sys.platform == "darwin":
            return bool(system.renamex_np(first, second, 2) == 0)  # RENAME_SWAP
        return bool(system.renameat2(-100, first, -100, second, 2) == 0)  # AT_FDCWD, RENAME_EXCHANGE
    except (AttributeError, OSError, TypeError):  # no such call here
        return False


def _to_disk(path: Path) -> None:
    """Asks the system to keep a file or the names in a folder; folders cannot be opened everywhere."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        if path.is_dir():
            return
        raise
    try:
        os.fsync(handle)
    except OSError:
        if not path.is_dir():
            raise
    finally:
        os.close(handle)


def _umask() -> int:
    """The process's file mode mask; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
