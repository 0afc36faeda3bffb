"""Uploaded pictures: of a few well-kept formats, known by their first bytes, of bounded cost."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError
from dissensus.inputs.chunks import as_pixels
from dissensus.inputs.decoder_process import DecoderLostError, TookTooLongError
from dissensus.inputs.image_file import decode_image
from dissensus.inputs.picture_cost import LIGHT, CostlyPictureError, examine, picture_format
from dissensus.serve.refusals import clear

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from dissensus.serve.decoders import Decoders
    from dissensus.serve.forms import Upload
    from dissensus.serve.workers import Workers

__all__ = ["PictureReader", "Pictures"]

NAME = "the picture"
HEAD = 16  # bytes that tell the format
TAKEN = "PNG, JPEG, WebP, GIF or BMP"


class Pictures(NamedTuple):
    """What became of N uploads."""

    pixels: NDArray[np.uint8]
    """(n, H, W, C), of those n that could be read, in order."""
    problems: dict[int, str]
    """Upload → why it could not."""


class _Heavy(NamedTuple):
    """A picture that may take long to decode, and is left to a process that can be ended."""

    content: bytes | memoryview
    pixels: int
    options: dict[str, Any]


_Outcome = NDArray[np.uint8] | str | _Heavy


class PictureReader:
    """Reads uploads as pixels of ``shape`` (H, W, C), as the library reads files of the same bytes.

    ``resize`` is the gate's own; with ``convert`` pictures of any size and colour are brought to its shape.
    ``count_outcome`` is called with "read", "unusable" or "refused" for each; what ends a decoder is counted
    there.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        *,
        resize: tuple[int, int] | None,
        convert: bool,
        most_pixels: int,
        count_outcome: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.shape, self.most_pixels, self._count = shape, most_pixels, count_outcome
        size = shape[:2] if convert else resize
        self._options: dict[str, Any] = {
            "name": NAME,
            "size": None if size is None else (size[0], size[1]),
            "channels": shape[2] if convert or shape[2] == 3 else None,
        }

    async def read(self, uploads: Sequence[Upload], workers: Workers, decoders: Decoders) -> Pictures:
        """Return the pixels of the uploads, and what is wrong with those that have none.

        Pictures that are decoded in a moment, whatever their bytes are, are decoded in a thread: a process
        would take longer to hear of them. All others wait their turn for a process, one of each request at a
        time, so that many of one client do not stand in front of one of another.
        """
        found = await workers.in_turns(self.light(upload.content for upload in uploads))
        for number, one in enumerate(found):
            if isinstance(one, _Heavy):
                found[number] = await self._heavy(one, decoders)
        pixels = [one for one in found if isinstance(one, np.ndarray)]
        problems = {number: one for number, one in enumerate(found) if isinstance(one, str)}
        return Pictures(np.stack(pixels) if pixels else np.empty((0, *self.shape), np.uint8), problems)

    def light(self, contents: Iterator[bytes | memoryview]) -> Iterator[_Outcome]:
        """Yield the pixels of each picture, or what is wrong with it, or the picture if it may take long."""
        for sent in contents:
            try:
                if picture_format(bytes(sent[:HEAD])) is None:
                    raise DataError(f"the file is no picture in {TAKEN}" if sent else "the file is empty")
                content = bytes(sent)  # one at a time: together they may be as large as the body
                found = examine(content, most_pixels=self.most_pixels)
                assert found is not None
                if self._options["size"] is None and self.shape[:2] not in (
                    (found.height, found.width),
                    (found.width, found.height),  # a camera may have been held upright
                ):  # nothing is decoded that could not be used
                    as_pixels(
                        np.broadcast_to(np.uint8(0), (found.height, found.width)), self.shape, name=NAME
                    )
                options = self._options | {"formats": [found.kind]}
                if not LIGHT.hold(len(content), found):
                    yield _Heavy(
                        sent, found.width * found.height, options | {"most_pixels": self.most_pixels}
                    )
                    continue
                # No more pixels than were seen in front: they are what the time was reckoned by.
                yield self._fitting(
                    decode_image(BytesIO(content), most_pixels=found.width * found.height, **options)
                )
            except DataError as error:
                yield self._problem(error)

    async def _heavy(self, picture: _Heavy, decoders: Decoders) -> NDArray[np.uint8] | str:
        most = 3 * max(self.most_pixels, self.shape[0] * self.shape[1])
        decoding = decoders.decode(picture.content, pixels=picture.pixels, most_bytes=most, **picture.options)
        try:
            return self._fitting(await decoding)
        except DataError as error:
            return self._problem(error)

    def _fitting(self, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
        pixels = as_pixels(picture, self.shape, name=NAME)
        self._count("read")
        return pixels

    def _problem(self, error: DataError) -> str:
        if not isinstance(error, TookTooLongError | DecoderLostError):
            self._count("refused" if isinstance(error, CostlyPictureError) else "unusable")
        # What helps on the command line is called otherwise here.
        return clear(str(error)).replace("on the command line with --resize", "or ask with ?convert=true")
