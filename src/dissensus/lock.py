"""A place that one process at a time writes to, and the name of the process that does.

The lock is the system's own (``flock``; on Windows a locked byte), so the kernel releases it when its holder
ends, however it ends: what a killed process or a rebooted machine left behind is taken over without asking.
The lock file is only text that says who holds it, for the sentence that another process is refused with.

Two cases are left in which a lock proves too little. Some file systems know no locks: there the file itself
is the lock, and is taken over only from a process that is certainly dead. Others keep the locks of each
machine apart: there a file that another machine left is respected. Both sentences name the file to remove.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from dissensus.errors import InUseError, not_written
from dissensus.holder import Holder

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

__all__ = ["Claim"]

PAUSE = 0.05  # seconds between two attempts
SAYING_WHO = 1.0  # seconds that a new holder may take to write its name
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL}


@dataclass
class _Held:
    """A lock of this process; only the thread that took it may take it again."""

    handle: int
    thread: int
    times: int = 1


_held: dict[Path, _Held] = {}
_changing = threading.RLock()  # collecting garbage may release a claim while another is taken


class Claim:
    """From here to :meth:`release`, or to the end of the ``with`` block, only this thread writes to a place.

    ``place`` is a file or a folder; links to it are the same place. The lock file stands beside it, or with
    ``inside=True`` in it, which for a folder is possible even where the folder above may not be written to.
    The folder it stands in must exist. Raises :class:`InUseError` if another process or thread has the place
    and does not give it up within ``patience`` seconds. A thread may claim again what it has.
    """

    def __init__(self, place: str | os.PathLike[str], *, inside: bool = False, patience: float = 0.0) -> None:
        real = Path(os.path.realpath(place))
        self.place = os.fspath(place)
        self.file = real / ".lock" if inside else real.with_name(f".{real.name}.lock")
        self._mine = False
        deadline = time.monotonic() + patience
        while True:
            try:
                self._take()
                return
            except InUseError:
                if time.monotonic() >= deadline:
                    raise
            time.sleep(PAUSE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def __del__(self) -> None:
        with suppress(Exception):  # the interpreter may be on its way out, or the claim was refused
            self.release()

    def release(self) -> None:
        """Gives the place up; a second call does nothing."""
        with _changing:
            mine, self._mine = self._mine, False
            held = _held.get(self.file)
            if not mine or held is None:  # or it was taken before a fork, by the parent
                return
            held.times -= 1
            if held.times == 0:
                del _held[self.file]
                _let_go(held.handle, self.file)

    def _take(self) -> None:
        with _changing:
            held = _held.get(self.file)
            if held is not None and held.thread == threading.get_ident():
                held.times += 1
                self._mine = True
                return
            try:
                _held[self.file] = _Held(_lock_file(self.file, self.place), threading.get_ident())
            except OSError as error:
                raise not_written(self.file, error) from error
            self._mine = True


def _lock_file(file: Path, place: str) -> int:
    """The handle of the file, which from now on is ours, whoever had left it."""
    while True:
        handle, new = _opened(file)
        try:
            if _is_ours(handle, file, place, new=new):
                with suppress(OSError):  # on a full disk it stays nameless, and a lock
                    os.ftruncate(handle, 0)
                    os.lseek(handle, 0, os.SEEK_SET)
                    os.write(handle, Holder().text())
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _opened(file: Path) -> tuple[int, bool]:
    """The file's handle, and whether it is a new file."""
    how = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
    while True:
        try:
            return os.open(file, how | os.O_CREAT | os.O_EXCL, 0o666), True
        except FileExistsError:
            with suppress(FileNotFoundError):  # it was removed just now
                return os.open(file, how), False


def _is_ours(handle: int, file: Path, place: str, *, new: bool) -> bool:
    """Locks the file; False if it is no longer there, so that its lock means nothing."""
    try:
        free = _locked(handle)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        if new:
            return True
        left = _read(handle)
        if left is None or not left.is_dead():
            raise _in_use(place, left, remove=file) from None
        _remove_if_still(file, left)
        return False
    if not free:
        raise _in_use(place, _who(handle))
    # Its last holder may have removed the file after we had opened it.
    if not _is_there(handle, file):
        return False
    left = _read(handle)
    if left is not None and left.may_live_elsewhere(file):
        raise _in_use(place, left, remove=file)
    return True


def _let_go(handle: int, file: Path) -> None:
    """Removes the file while it is still locked, so that nobody's newer one can be meant."""
    with suppress(OSError):
        file.unlink(missing_ok=True)
    os.close(handle)
    if sys.platform == "win32":  # it removes no file that is open
        with suppress(OSError):
            file.unlink(missing_ok=True)


# Not the package filelock: its file stays behind, and a name can be written into it only past its interface.
def _locked(handle: int) -> bool:
    """Takes the system's lock if it is free."""
    try:
        if sys.platform == "win32":
            os.lseek(handle, 1 << 30, os.SEEK_SET)  # far behind the text, which others must be able to read
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            os.lseek(handle, 0, os.SEEK_SET)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK):
            return False
        raise
    return True


def _remove_if_still(file: Path, found: Holder) -> None:
    """Removes what a dead process left, unless a third process was faster and the file is now its own."""
    aside = file.with_name(f"{file.name}.{os.getpid()}-{threading.get_ident()}")
    with suppress(FileNotFoundError):
        file.rename(aside)
        text = b""
        with suppress(OSError):
            text = aside.read_bytes()[:4096]
        if Holder.parse(text) == found:
            aside.unlink()
        else:
            aside.rename(file)


def _in_use(place: str, holder: Holder | None, *, remove: Path | None = None) -> InUseError:
    who = "another process" if holder is None else str(holder)
    remedy = (
        "wait until it has ended, or choose another place"
        if remove is None
        else f"wait until it has ended, or, if it no longer runs, remove {remove}"
    )
    return InUseError(f"{place} is being written to by {who}: {remedy}")


def _who(handle: int) -> Holder | None:
    """The holder's name, which may be about to be written."""
    deadline = time.monotonic() + SAYING_WHO
    while (found := _read(handle)) is None and time.monotonic() < deadline:
        time.sleep(PAUSE)
    return found


def _is_there(handle: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), file.stat())
    except FileNotFoundError:
        return False


def _read(handle: int) -> Holder | None:
    os.lseek(handle, 0, os.SEEK_SET)
    return Holder.parse(os.read(handle, 4096))


def _forget() -> None:
    """In a forked process: the locks are the parent's, and must not outlive it in a copy of the handle."""
    global _changing  # another thread of the parent may have held it
    _changing = threading.RLock()
    for held in _held.values():
        with suppress(OSError):
            os.close(held.handle)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
