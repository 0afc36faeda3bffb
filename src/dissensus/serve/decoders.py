"""The processes that decode large pictures: several, so that one slow picture does not hold up the others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dissensus.inputs.decoder_process import (
    DecoderLostError,
    DecoderProcess,
    DecoderStartError,
    TookTooLongError,
)
from dissensus.serve.logs import log
from dissensus.serve.refusals import Refusal

__all__ = ["Decoders"]

PAUSE = 1.0  # seconds between two tries to start a process
RETRY = {"Retry-After": "5"}
STUCK = 60.0  # seconds beyond a picture's own in which its process must have been ended
# Seconds that pictures get once the service is stopping: an ordinary one takes a tenth of that.
LAST = 2.0
# Scoring goes first: a third as much processor time as who does not give way. Pictures get at most 5 s of the
# clock, so that it must not be much less.
NICE = 5


class Decoders:
    """``count`` processes that decode one picture each, for at most ``seconds``.

    Pictures get a process in the order in which they come. A process that had to be ended is replaced while
    the others go on. None is started before the first picture, or :meth:`start`. ``count_outcome`` is called
    with "timeout" or "crash" for each picture that ended its process.

    A pixel takes up to 16 bytes while it is decoded, so that at most ``most_pixels`` are at any time, or one
    picture.
    """

    def __init__(
        self,
        count: int,
        *,
        seconds: float,
        memory: int,
        most_pixels: int,
        count_outcome: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.count, self.seconds, self._count = count, seconds, count_outcome
        self.most_pixels, self._pixels = most_pixels, 0
        self._entering, self._freed = asyncio.Lock(), asyncio.Event()
        self.waiting = 0
        """Pictures that wait for a process, or for others to be done."""
        self.all = [DecoderProcess(memory=memory, nice=NICE) for _ in range(count)]
        # Each waits for a process, and does nothing else.
        self._threads = ThreadPoolExecutor(count, "decoder")
        self._idle: asyncio.Queue[DecoderProcess] = asyncio.Queue()
        self._failed: set[DecoderProcess] = set()
        self._starting: set[asyncio.Task[None]] = set()
        self._since: dict[DecoderProcess, float] = {}
        self._started = self._stopping = False

    async def start(self) -> None:
        """Start all processes, and wait until each is ready or has failed once."""
        if self._started:
            return
        self._started = True
        tried = [asyncio.Event() for _ in self.all]
        for decoder, event in zip(self.all, tried, strict=True):
            self._replace(decoder, event)
        for event in tried:
            await event.wait()

    async def decode(self, content: bytes | memoryview, *, pixels: int, **options: Any) -> NDArray[np.uint8]:
        """Return the pixels. A DataError says what is wrong with the picture, a refusal that nothing is.

        The options are those of :meth:`DecoderProcess.decode`.
        """
        await self.start()
        if len(self._failed) == self.count:
            raise Refusal(503, "no picture decoder is running: try again later", RETRY)
        self.waiting += 1
        try:
            await self._make_room(pixels)
            try:
                decoder = await self._idle.get()
            except BaseException:
                self._leave_room(pixels)
                raise
        finally:
            self.waiting -= 1
        if self._stopping:
            self._leave_room(pixels)
            self._idle.put_nowait(decoder)  # the next who waits must hear of it, too
            raise _stopping()
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(
            self._threads, lambda: decoder.decode(content, seconds=self.seconds, **options)
        )
        self._since[decoder] = time.monotonic()
        work.add_done_callback(lambda work: self._ended(decoder, pixels, work.exception()))
        try:
            # Shielded: a process has no other way to end its picture than the one that counts its seconds.
            return await asyncio.shield(work)
        except DecoderStartError:
            raise Refusal(503, "the picture decoder cannot be started: try again later", RETRY) from None
        except DecoderLostError:
            if self._stopping:
                raise _stopping() from None
            raise

    @property
    def busy(self) -> int:
        """How many pictures are being decoded."""
        return len(self._since)

    def problems(self) -> list[str]:
        """Why pictures cannot be decoded; none means that they can."""
        if len(self._failed) == self.count:
            return ["no picture decoder is running"]
        now = time.monotonic()
        if any(now - since > self.seconds + STUCK for since in self._since.values()):
            return ["a picture decoder is stuck"]
        return []

    def finish(self) -> None:
        """Give pictures a last moment, then end all processes; whoever waits is refused."""
        asyncio.get_running_loop().call_later(LAST, self._stop)

    async def close(self) -> None:
        """End everything now."""
        self._stop()
        await asyncio.gather(*self._starting, return_exceptions=True)
        ending = asyncio.ensure_future(asyncio.to_thread(self._threads.shutdown))
        while not (await asyncio.wait((ending,), timeout=0.1))[0]:
            self._stop()  # one may have been about to start
        for decoder in self.all:
            decoder.stop()

    def _stop(self) -> None:
        self._stopping = True
        self._freed.set()
        for task in self._starting:
            task.cancel()
        for decoder in self.all:
            decoder.kill()

    async def _make_room(self, pixels: int) -> None:
        """Waits until so many more may be decoded; whoever came first goes first."""
        async with self._entering:
            while self._pixels and self._pixels + pixels > self.most_pixels and not self._stopping:
                self._freed.clear()
                await self._freed.wait()
            self._pixels += pixels

    def _leave_room(self, pixels: int) -> None:
        self._pixels -= pixels
        self._freed.set()

    def _ended(self, decoder: DecoderProcess, pixels: int, error: BaseException | None) -> None:
        """Gives the decoder to the next picture. Its own may belong to a request that is over already."""
        del self._since[decoder]
        self._leave_room(pixels)
        if isinstance(error, TookTooLongError):
            self._count("timeout")
        elif isinstance(error, DecoderLostError) and not self._stopping:
            self._count("crash")
        if decoder.running or self._stopping:
            self._idle.put_nowait(decoder)
        else:
            self._replace(decoder)

    def _replace(self, decoder: DecoderProcess, tried: asyncio.Event | None = None) -> None:
        task = asyncio.create_task(self._start(decoder, tried or asyncio.Event()))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _start(self, decoder: DecoderProcess, tried: asyncio.Event) -> None:
        """Start the process, again and again if need be; then it can be had."""
        try:
            while not self._stopping:
                try:
                    await asyncio.get_running_loop().run_in_executor(self._threads, decoder.start)
                    break
                except DecoderStartError as error:
                    if decoder not in self._failed:
                        log("picture decoder failed", level="error", reason=str(error))
                    self._failed.add(decoder)
                tried.set()
                await asyncio.sleep(PAUSE)
        finally:
            tried.set()
            self._failed.discard(decoder)
            self._idle.put_nowait(decoder)


def _stopping() -> Refusal:
    return Refusal(503, "the service is stopping: send the picture again", {"Retry-After": "1"})
