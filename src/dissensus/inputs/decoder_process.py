"""Decoding in a process of its own, which is ended when a picture takes too long or too much memory."""

from __future__ import annotations

import atexit
import math
import os
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError, DissensusError, brief
from dissensus.inputs.decoder_messages import receive, send
from dissensus.inputs.picture_cost import CostlyPictureError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DecoderLostError", "DecoderProcess", "DecoderStartError", "TookTooLongError", "decode_apart"]

START_SECONDS = 60.0  # it takes a fifth of a second, but a machine may be busy
APART_SECONDS = 60.0
APART_MEMORY = 8 << 30  # the largest picture that Pillow opens takes a quarter of this


class DecoderStartError(DissensusError):
    """The process that decodes pictures cannot be started."""


class TookTooLongError(CostlyPictureError):
    """Decoding the picture was given up after its time was over."""


class DecoderLostError(DataError):
    """The process ended while it decoded the picture."""


class DecoderProcess:
    """A process that decodes one picture at a time, each within a number of seconds.

    It is started when it is needed, and again after it had to be ended. ``memory`` is how many bytes of
    address space it may take where the system can limit that, ``nice`` by how much it lets others go first.
    It belongs to one thread at a time, but any may :meth:`kill` it.
    """

    def __init__(self, *, memory: int, nice: int = 0) -> None:
        self.memory, self.nice = memory, nice
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> bool:
        """Whether it can decode a picture at once."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the process unless it runs, and wait until it is ready."""
        if self.running:
            return
        self.stop()
        try:
            self._process = process = subprocess.Popen(
                [*self.command(), str(self.memory), str(self.nice)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
            )
            with _ended_after(process, START_SECONDS):
                receive(_stream(process.stdout), most=0)
        except (OSError, EOFError, ValueError) as error:
            self.stop()
            raise DecoderStartError(
                f"the process that decodes pictures cannot be started ({brief(error)}): see that "
                f"{sys.executable} can be executed and that the system allows more processes"
            ) from error
        except BaseException:
            self.stop()
            raise

    def decode(
        self,
        source: bytes | memoryview | Path,
        *,
        name: str,
        seconds: float,
        most_bytes: int = 1 << 30,
        **options: Any,
    ) -> NDArray[np.uint8]:
        """Return what :func:`~dissensus.inputs.image_file.decode_image` makes of the source by these options.

        A picture that takes longer than ``seconds`` is a :class:`TookTooLongError`, and one that ends the
        process a :class:`DecoderLostError`; either way the process is gone, and the next picture starts it.
        """
        self.start()
        process = self._process
        assert process is not None
        path = os.fsencode(source).hex() if isinstance(source, Path) else None
        content: bytes | memoryview = b"" if isinstance(source, Path) else source
        late = threading.Event()
        try:
            with _ended_after(process, seconds, late):
                about = {"path": path, "name": name, "seconds": seconds, **options}
                send(_stream(process.stdin), about, content)
                note, pixels = receive(_stream(process.stdout), most=most_bytes)
                shape = _shape(note, len(pixels))
        except (OSError, EOFError, ValueError) as error:
            self.stop()
            if late.is_set():
                raise TookTooLongError(
                    f"{name} took longer than {seconds:.3g} s to decode: save it again as an ordinary PNG "
                    "or JPEG."
                ) from error
            raise DecoderLostError(
                f"{name} cannot be read as an image (the decoder ended over it); repair or remove it."
            ) from error
        except BaseException:  # Ctrl-C: the answer to this picture must not become that to the next
            self.stop()
            raise
        if late.is_set():  # too late for this one, and the process is being ended
            self.stop()
        if shape is None:
            raise (CostlyPictureError if note.get("costly") else DataError)(str(note.get("problem")))
        return np.frombuffer(pixels, np.uint8).reshape(shape).copy()

    def kill(self) -> None:
        """End the process, whatever it does; what it is decoding becomes a :class:`DecoderLostError`."""
        process = self._process
        if process is not None:
            process.kill()

    def stop(self) -> None:
        """End the process and forget it."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):  # there may be something left to write
                if stream is not None:
                    stream.close()

    def command(self) -> list[str]:
        """The program and its arguments, but for the last two."""
        return [sys.executable, "-P", "-m", "dissensus.inputs.decoder_child"]


class _Apart:
    """The one process that decodes what nobody else waits for, started when it is first needed."""

    def __init__(self) -> None:
        self.renew()
        atexit.register(self._end)
        if hasattr(os, "register_at_fork"):  # a forked process must not share its parent's
            os.register_at_fork(after_in_child=self.renew)

    def renew(self) -> None:
        self.decoder, self.lock, self._owner = (
            DecoderProcess(memory=APART_MEMORY),
            threading.Lock(),
            os.getpid(),
        )

    def _end(self) -> None:
        if self._owner == os.getpid():
            self.decoder.stop()


_apart = _Apart()


def decode_apart(path: Path | BytesIO, **options: Any) -> NDArray[np.uint8]:
    """Return the pixels of a picture whose cost nobody knows, decoded by a process that can be ended."""
    name, source = ("the picture", path.getvalue()) if isinstance(path, BytesIO) else (str(path), path)
    with _apart.lock:
        return _apart.decoder.decode(source, name=name, seconds=APART_SECONDS, **options)


@contextmanager
def _ended_after(
    process: subprocess.Popen[bytes], seconds: float, late: threading.Event | None = None
) -> Iterator[None]:
    """End the process if the block takes longer, and set ``late``: reads and writes in it fail at once."""
    deciding, done = threading.Lock(), False

    def end() -> None:
        with deciding:
            if not done:
                if late is not None:
                    late.set()
                process.kill()

    # A thread that waits: a pipe can be read with a time limit on some systems only.
    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with deciding:
            done = True
        timer.cancel()


def _stream(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def _shape(note: dict[str, Any], size: int) -> tuple[int, ...] | None:
    """Return the shape of the pixels (H, W) or (H, W, 3), or None for a problem; ValueError for neither."""
    shape = note.get("shape")
    if shape is None:
        return None
    if (
        not isinstance(shape, list)
        or len(shape) not in (2, 3)
        or not all(type(side) is int for side in shape)
    ):
        raise ValueError("the answer has no shape of a picture")
    if min(shape) < 1 or math.prod(shape) != size:
        raise ValueError("the answer does not fill its shape")
    return tuple(shape)


def _environment() -> dict[str, str]:
    """This process's environment, with the modules from the same places, and no threads that nobody needs."""
    paths = [str(Path(place).resolve()) for place in sys.path if place]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        # What a large picture took is given back to the system, and not kept for the next one.
        "MALLOC_MMAP_THRESHOLD_": "1048576",
    }
