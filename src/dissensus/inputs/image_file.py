"""One picture in any format Pillow reads, turned into the uint8 pixels a person would see."""

from __future__ import annotations

import os
import warnings
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError, brief
from dissensus.inputs.decoder_process import decode_apart
from dissensus.inputs.picture_cost import ORDINARY, CostlyPictureError, examine, picture_format

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["decode_image", "image_suffixes", "is_stored_grey", "read_image"]

HEAD = 16  # bytes that tell the format
STRIP = 256  # rows

# Formats Pillow can name but not decode by itself: stubs, and EPS, which would start an external program.
_NOT_DECODED = {"BUFR", "EPS", "GRIB", "HDF5", "MPEG", "WMF"}
_GREY_MODES = {"1", "L", "LA", "La"}  # and those of 16 and more bits


@cache
def image_suffixes() -> dict[str, str]:
    """Lower-case suffix → format, for every format that is read here.

    >>> image_suffixes()[".png"]
    'PNG'
    """
    from PIL import Image

    Image.init()
    return {
        suffix.lower(): kind
        for suffix, kind in Image.registered_extensions().items()
        if kind in Image.OPEN and kind not in _NOT_DECODED
    }


def read_image(
    path: str | Path | BytesIO, *, size: tuple[int, int] | None = None, channels: int | None = None
) -> NDArray[np.uint8]:
    """Return the pixels (H, W) if grey, (H, W, 3) if RGB, of a file or of a file's bytes.

    ``size`` is (H, W) and resizes bilinearly; ``channels`` is 1 or 3, or None to follow the file: pictures
    stored as black and white or grey are grey, all others (palettes too) are RGB. Transparent parts are laid
    over white, 16 bits are rounded to 8, the camera's orientation is applied, and of an animation the first
    frame is taken.

    A picture that would take too long to decode is a
    :class:`~dissensus.inputs.picture_cost.CostlyPictureError`: before it is decoded where its headers tell,
    which they do for PNG, JPEG, WebP, GIF and BMP, and after a minute, in a process of its own, otherwise.
    """
    if channels not in (None, 1, 3):
        raise DataError(f"channels must be 1 (grey), 3 (RGB) or None, not {channels!r}.")
    if size is not None and min(size) < 1:
        raise DataError(f"size must be a height and a width of at least 1, not {size!r}.")
    path = Path(path) if isinstance(path, str) else path
    name = "the picture" if isinstance(path, BytesIO) else str(path)
    content = _content(path)
    if content is not None:
        found = examine(content, name=name)
        if found is not None and ORDINARY.hold(len(content), found):
            return decode_image(
                BytesIO(content),
                name=name,
                size=size,
                channels=channels,
                formats=[found.kind],
                most_pixels=found.width * found.height,
            )
    return decode_apart(path, size=size, channels=channels)


def is_stored_grey(path: Path) -> bool:
    """Return whether a file is one that :func:`read_image` gives as grey, mostly without decoding it."""
    content = _content(path)
    found = None if content is None else examine(content, name=str(path))
    if content is None or found is None or not ORDINARY.hold(len(content), found):
        return read_image(path).ndim == 2
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(BytesIO(content), formats=[found.kind]) as stored:
                return _is_grey(stored.mode)
    except Exception as error:  # as in decoding
        raise DataError(
            f"{path} cannot be read as an image ({brief(error)}); repair or remove it."
        ) from error


def decode_image(
    source: Path | BytesIO,
    *,
    name: str,
    size: tuple[int, int] | None = None,
    channels: int | None = None,
    formats: list[str] | None = None,
    most_pixels: int | None = None,
) -> NDArray[np.uint8]:
    """Return the pixels as :func:`read_image` does, here and now, however long it takes.

    Messages call the picture ``name``. ``formats`` are Pillow's names of those to read (default: all),
    ``most_pixels`` is how many a picture may have, which is checked before it is unpacked.
    """
    try:
        return _decoded(source, name, size, channels, formats, most_pixels)
    except MemoryError as error:
        raise CostlyPictureError(f"{name} takes too much memory to decode: make it smaller.") from error


def _content(path: Path | BytesIO) -> bytes | None:
    """Return the bytes of a file whose headers can be examined, None where it is of another format."""
    if isinstance(path, BytesIO):
        return path.getvalue()
    try:
        with path.open("rb") as stream:
            head = stream.read(HEAD)
            if picture_format(head) is None or os.fstat(stream.fileno()).st_size > ORDINARY.size:
                return None
            return head + stream.read()
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path} cannot be read as an image ({brief(error)}); repair or remove it."
        ) from error


def _decoded(
    source: Path | BytesIO,
    path: str,
    size: tuple[int, int] | None,
    channels: int | None,
    formats: list[str] | None,
    most_pixels: int | None,
) -> NDArray[np.uint8]:
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a forged picture can cause thousands
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(source, formats=formats or sorted(set(image_suffixes().values()))) as stored:
                if most_pixels is not None and stored.width * stored.height > most_pixels:
                    raise CostlyPictureError(
                        f"{path} has {stored.width}×{stored.height} pixels, and {most_pixels} in all are the "
                        "most: make it smaller."
                    )
                stored.load()
                upright = ImageOps.exif_transpose(stored)
            del stored  # with it goes what its decoder holds: of WebP, twice the picture
            visible = _eight_bits(upright, path)
            del upright
    except (DataError, MemoryError):
        raise
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise CostlyPictureError(
            f"{path} is refused: it unpacks to more than {Image.MAX_IMAGE_PIXELS} pixels; make it smaller."
        ) from error
    except Exception as error:  # on damaged bytes Pillow's plugins raise almost anything
        raise DataError(
            f"{path} cannot be read as an image ({brief(error)}); repair or remove it."
        ) from error
    if channels is not None:
        visible = visible.convert("L" if channels == 1 else "RGB")
    if size is not None and visible.size != (size[1], size[0]):
        visible = visible.resize((size[1], size[0]), Image.Resampling.BILINEAR)
    return np.array(visible, dtype=np.uint8)


def _eight_bits(image: Image.Image, path: str) -> Image.Image:
    """The same picture in mode L or RGB."""
    from PIL import Image

    if image.mode == "F":
        raise DataError(f"{path} holds floating-point pixels; save it with 8 bits per channel.")
    if image.mode.startswith("I"):
        values = np.asarray(image).astype(np.int32)
        if values.size and not 0 <= values.min() <= values.max() <= 65535:
            raise DataError(f"{path} holds pixels outside 0..65535; save it with 8 bits per channel.")
        return Image.fromarray(((values + 128) // 257).astype(np.uint8))
    grey = _is_grey(image.mode)
    if {"A", "a"} & set(image.getbands()) or "transparency" in image.info:
        image = _over_white(image)
    return image.convert("L" if grey else "RGB")


def _is_grey(mode: str) -> bool:
    return mode in _GREY_MODES or mode.startswith("I")


def _over_white(image: Image.Image) -> Image.Image:
    """The picture in mode RGB, its transparent parts laid over white.

    A strip at a time: a picture of four bytes a pixel would otherwise be in memory four times.
    """
    from PIL import Image

    laid = Image.new("RGB", image.size)
    for top in range(0, image.height, STRIP):
        strip = image.crop((0, top, image.width, min(top + STRIP, image.height))).convert("RGBA")
        white = Image.new("RGBA", strip.size, (255, 255, 255, 255))
        laid.paste(Image.alpha_composite(white, strip).convert("RGB"), (0, top))
    return laid
