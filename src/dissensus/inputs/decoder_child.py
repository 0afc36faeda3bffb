"""The process that decodes pictures for another one, which may end it at any time.

It is started as ``python -m dissensus.inputs.decoder_child MEMORY NICE``, imports Pillow and NumPy and no
torch, and ends when its standard input does.
"""

from __future__ import annotations

import math
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError
from dissensus.inputs.decoder_messages import receive, send
from dissensus.inputs.image_file import decode_image
from dissensus.inputs.picture_cost import CostlyPictureError

__all__ = ["answer", "main"]


def answer(
    requests: IO[bytes], answers: IO[bytes], decode: Callable[..., NDArray[np.uint8]] = decode_image
) -> None:
    """Decode one picture after the other until there are no more requests."""
    send(answers, {"ready": True})
    while True:
        try:
            note, content = receive(requests)
        except EOFError:
            return
        _limit_time(note.pop("seconds"))
        path = note.pop("path")
        try:
            pixels = decode(
                BytesIO(content) if path is None else Path(os.fsdecode(bytes.fromhex(path))), **note
            )
        except DataError as error:
            send(answers, {"problem": str(error), "costly": isinstance(error, CostlyPictureError)})
        else:
            send(answers, {"shape": pixels.shape}, np.ascontiguousarray(pixels).data.cast("B"))


def main() -> None:
    """Answer on the standard streams; the arguments are the most bytes of memory, and the niceness."""
    for name in (
        "SIGINT",
        "SIGTERM",
    ):  # sent to a whole group of processes; the other one decides when to end
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    from PIL import Image, WebPImagePlugin  # noqa: F401 read now, lest the first picture waits for it

    Image.preinit()
    memory, nice = map(int, sys.argv[1:])
    _limit_memory(memory)
    if hasattr(os, "nice"):
        os.nice(nice)
    with suppress(BrokenPipeError):  # nobody waits any more
        answer(sys.stdin.buffer, answers)


def _limit_memory(size: int) -> None:
    if sys.platform == "win32":
        return
    import resource

    with suppress(ValueError, OSError):  # a lower limit holds already, or this system has none
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    with suppress(OSError):  # if the machine runs out of memory, this process is the one to end
        Path("/proc/self/oom_score_adj").write_text("1000")


def _limit_time(seconds: float) -> None:
    """Let the system end this process if the other one is no longer there to do so."""
    if sys.platform == "win32":
        return
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    cores = os.cpu_count() or 1  # some decoders use them all
    limit = math.ceil(used.ru_utime + used.ru_stime + cores * seconds) + 1
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))


if __name__ == "__main__":
    main()
