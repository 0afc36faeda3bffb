"""Where a person asked for output: a file that is replaced as a whole, or a stream that is written to.

Every output that a person can name goes through here, so that all of them treat a name alike:

- a regular file, or a name that is free: the new content replaces the old at once, or not at all;
- a link: what it names is replaced, or made if it is not there; the link stays;
- a pipe or a device: it is written to and never replaced;
- ``-``, ``/dev/stdout`` and ``/dev/fd/N``: what this process was started with is written to, even if a shell
  has sent it to a regular file.
"""

from __future__ import annotations

import errno
import io
import os
import select
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, TextIO, cast

from dissensus.atomic import atomic_path
from dissensus.errors import OutputError, SettingsError, not_written

if sys.platform != "win32":
    import fcntl

__all__ = ["STDOUT", "Destination", "check_folder", "write_output"]

STDOUT = "-"
MOST_LINKS = 40  # that one name may lead through, as on Linux


class Destination:
    """One output that a person named, checked when it is made: before any work is done for it.

    A name that cannot be written to is a :class:`SettingsError`. A pipe is opened at once, which waits for
    its reader, so that the reader sees an end of it even if the work fails; :meth:`close`, or the end of a
    ``with`` block, is that end.
    """

    def __init__(self, name: str | os.PathLike[str]) -> None:
        self.name = os.fspath(name)
        self.file: Path | None = None
        """The regular file that will be replaced; None if the output is a stream."""
        self._stream: _Stream | None = None
        number = 1 if self.name == STDOUT else _descriptor(self.name)
        self.is_stdout = number == 1
        """Whether it is where this process prints its results."""
        if number is not None:
            self._stream = _of_descriptor(self.name, number)
        elif _is_special(self.name):
            self._stream = _opened(self.name)
        else:
            self.file = Path(os.path.realpath(self.name))
            _check_file(self.name, self.file)

    @property
    def is_stream(self) -> bool:
        """Whether it is written to as it is, instead of being replaced as a whole."""
        return self._stream is not None

    @property
    def is_terminal(self) -> bool:
        """Whether a person reads it as it is written."""
        return self._stream is not None and self._stream.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def cut_off(self) -> None:
        """Lets a stream take nothing more: what was left half must get no end that makes it look whole."""
        if self._stream is not None:
            self._stream.cut_off()

    def close(self) -> None:
        """Tells the reader of a stream that nothing more comes; a file needs no end."""
        if self._stream is not None:
            self._stream.close()

    @contextmanager
    def binary(self) -> Iterator[BinaryIO]:
        """What bytes are written to; a file is replaced by them when the block ends well.

        Raises :class:`OutputError` if they cannot be written.
        """
        if self._stream is not None:
            yield cast("BinaryIO", self._stream)
            return
        assert self.file is not None
        try:
            with atomic_path(self.file) as temporary, temporary.open("wb") as written:
                yield written
        except OSError as error:
            raise not_written(self.name, error) from error

    @contextmanager
    def text(self) -> Iterator[TextIO]:
        """What text is written to, in UTF-8 unless stdout has been given another encoding."""
        with self.binary() as raw:
            own = self.is_stdout
            text = io.TextIOWrapper(
                raw,
                encoding=(sys.stdout.encoding if own else None) or "utf-8",
                errors=sys.stdout.errors if own else "strict",
                newline="",
            )
            try:
                yield text
                text.flush()
            finally:
                text.detach()  # closing it would close what it writes to

    def write(self, content: bytes) -> None:
        """Writes all there is to write."""
        with self.binary() as written:
            written.write(content)


def write_output(name: str | os.PathLike[str] | Destination, content: bytes) -> None:
    """Writes all of an output that a person named; raises :class:`OutputError` if that cannot be done.

    Whoever has work to do first makes a :class:`Destination` before it.
    """
    if isinstance(name, Destination):
        name.write(content)
        return
    try:
        destination = Destination(name)
    except SettingsError as error:
        raise OutputError(str(error)) from error
    with destination:
        destination.write(content)


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Refuses a folder that files could not be put into, before any work is done for them; makes nothing."""
    if os.fspath(folder) == STDOUT:
        raise SettingsError("what is a folder of files cannot go to stdout: name a folder")
    real = Path(os.path.realpath(folder))
    # What is not there yet will be made in the nearest folder that is.
    there = next(place for place in (real, *real.parents) if os.path.lexists(place))
    if not there.is_dir():
        which = "" if there == real else f", because {there} is a file"
        raise SettingsError(f"{folder} cannot be written{which}: name a folder")
    try:
        with tempfile.TemporaryDirectory(dir=there, prefix=".dissensus-"):
            pass
    except OSError as error:
        raise SettingsError(f"{folder} cannot be written ({error.strerror}): choose another place") from error


def _check_file(name: str, file: Path) -> None:
    if file.is_dir():
        raise SettingsError(f"{name} is a folder: name a file to write to")
    if file.is_symlink():  # what is still a link after all were followed leads back to itself
        raise SettingsError(f"{name} cannot be written ({os.strerror(errno.ELOOP)}): name another file")
    if not os.path.lexists(file.parent):
        raise SettingsError(
            f"{name} cannot be written: there is no folder {file.parent}; make it, or choose another place"
        )
    try:
        with tempfile.TemporaryFile(dir=file.parent):
            pass
    except OSError as error:
        raise SettingsError(f"{name} cannot be written ({error.strerror}): choose another place") from error


def _is_special(name: str) -> bool:
    """Whether something is there that is neither a regular file nor a folder."""
    try:
        mode = os.stat(name).st_mode  # noqa: PTH116  # a Path would hide why it cannot be asked
    except OSError:
        return False
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        what = "a disk" if stat.S_ISBLK(mode) else "a socket"
        raise SettingsError(f"{name} is {what}: name a file, a pipe or - for stdout")
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _descriptor(name: str) -> int | None:
    """The number of this process's open file that a name such as ``/dev/fd/3`` means, if it means one.

    On Linux ``/dev/stdout`` is a link to ``/proc/self/fd/1``, and that one looks like a link to the file that
    a shell has sent stdout to. Replacing that file would lose what others write to it.
    """
    place = os.path.abspath(name)  # noqa: PTH100  # which must not follow links
    for _ in range(MOST_LINKS):
        folder, last = os.path.split(place)
        folder = os.path.realpath(folder)
        if last.isascii() and last.isdigit() and folder in ("/dev/fd", f"/proc/{os.getpid()}/fd"):
            return int(last)
        try:
            place = os.path.join(folder, os.readlink(os.path.join(folder, last)))  # noqa: PTH115, PTH118
        except OSError:  # no link
            return None
    return None


def _of_descriptor(name: str, number: int) -> _Stream:
    """What this process was given as its file of that number."""
    if number == 1:
        if sys.stdout is None:
            raise SettingsError(f"{name} cannot be written: stdout is closed; name a file")
        sys.stdout.flush()  # what was printed before comes before
        try:
            number = sys.stdout.fileno()
        except (OSError, ValueError):  # no real file, as in tests and notebooks
            return _Stream(name, None, _printed)
    try:
        handle = os.dup(number)
    except OSError as error:
        raise SettingsError(f"{name} cannot be written: this process was given no such file") from error
    if _is_for_reading(handle):
        os.close(handle)
        raise SettingsError(f"{name} cannot be written: this process was given it to read from")
    return _Stream(name, handle)


def _is_for_reading(handle: int) -> bool:
    if sys.platform == "win32":
        return False
    return fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY


def _opened(name: str) -> _Stream:
    """A pipe or a device."""
    try:
        return _Stream(name, os.open(name, os.O_WRONLY | getattr(os, "O_NOCTTY", 0)))
    except OSError as error:
        raise SettingsError(f"{name} cannot be written ({error.strerror}): choose another place") from error


def _printed(data: bytes) -> int:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    return len(data)


class _Stream(io.RawIOBase):
    """Bytes that have left this process when ``write`` returns.

    A failure is told once: the layers above would otherwise try the same bytes again when they are closed.
    """

    def __init__(self, name: str, handle: int | None, put: Callable[[bytes], int] | None = None) -> None:
        self.name, self._handle = name, handle
        self._put = put or self._to_handle
        self._position, self._cut = 0, False

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._handle is not None and os.isatty(self._handle)

    def tell(self) -> int:
        """How much was written: pipes do not know, and Parquet counts on it."""
        return self._position

    def write(self, data: object) -> int:
        left = memoryview(cast("bytes", data)).cast("B")
        length = len(left)
        try:
            while len(left) and not self._cut:
                done = self._put(bytes(left[: 1 << 20]))
                left, self._position = left[done:], self._position + done
        except OSError as error:
            self.cut_off()
            if isinstance(error, BrokenPipeError):
                raise  # the reader has left: that is no failure of the work
            raise not_written(self.name, error) from error
        return length

    def cut_off(self) -> None:
        """Drops whatever is written from now on."""
        self._cut = True

    def close(self) -> None:
        if not self.closed and self._handle is not None:
            os.close(self._handle)
        super().close()

    def _to_handle(self, data: bytes) -> int:
        assert self._handle is not None
        while True:
            try:
                return os.write(self._handle, data)
            except BlockingIOError:  # somebody else has told the pipe not to wait
                select.select([], [self._handle], [])
