"""The preprocessor of pictures: files are brought to one size, pixels stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError
from dissensus.inputs.complexity import code_length
from dissensus.inputs.grey import IN_COLOUR, as_grey, coloured
from dissensus.inputs.predicted_code import predicted_length
from dissensus.inputs.preprocessor import Prepared, Preprocessor
from dissensus.inputs.spectra import spectrum, spectrum_names
from dissensus.inputs.surroundings import Surroundings
from dissensus.inputs.tables import Table
from dissensus.inputs.textures import textures
from dissensus.inputs.validation import axes, check_images
from dissensus.inputs.without_model import CODE, as_bytes, image_statistic_names

if TYPE_CHECKING:
    import torch

__all__ = ["MOST_PICTURES", "PICTURED", "PicturePreprocessor", "picture_surroundings", "surroundings_of_some"]

PICTURED = ("isolation",)
"""Of what surroundings tell, what is measured of pictures. Their far outliers may be nearer to the training
pictures than others are, and more probable: a flat picture among photographs."""
PREDICTED = "predicted-length"
SHARE = 64  # pictures that are worth handing over to another core
MANY = 1000  # pictures; of fewer, distances are those of whitened textures
MOST_PICTURES = 10_000  # pictures that are kept, as what their textures are made of


def picture_surroundings(images: NDArray[Any], random: np.random.Generator) -> Surroundings:
    """Learns from the textures of training pictures (n, H, W, C), or of a random choice of them."""
    return surroundings_of_some(len(images), lambda chosen: textures(images[chosen]), random)


def surroundings_of_some(
    count: int, textures_of: Callable[[NDArray[np.int64]], NDArray[np.float64]], random: np.random.Generator
) -> Surroundings:
    """The same of ``count`` training pictures, told which of them are chosen, in order."""
    chosen = np.arange(count)
    if count > MOST_PICTURES:
        chosen = np.sort(random.permutation(count)[:MOST_PICTURES])
    # Whitened, directions in which training pictures hardly differ would count as much as all others, and of
    # thousands of pictures clusters that were left out, constants and what is blurred are found far worse
    # (docs/panel.md). Of a few hundred, noise is found worse otherwise.
    return Surroundings.of_vectors(textures_of(chosen), random, whitened=count < MANY)


@dataclass(frozen=True)
class PicturePreprocessor(Preprocessor):
    """Pictures (H, W, C) of uint8 in 0..255 or floats in [0, 1]."""

    pictured: ClassVar[bool] = True

    shape: tuple[int, ...]
    resize: tuple[int, int] | None = None
    surroundings: Surroundings | None = None
    """Of training pictures' textures, if any are kept."""

    @property
    def kind(self) -> str:
        """Always ``images``."""
        return "images"

    def contract(self) -> dict[str, Any]:
        """Kind, shape, types and ranges."""
        accepts = {"uint8": [0, 255], "float32": [0.0, 1.0]}
        return {"kind": self.kind, "shape": list(self.shape), "accepts": accepts}

    def steps(self) -> list[dict[str, Any]]:
        """Return the steps in order: resized if asked for, and scaled."""
        resize = [] if self.resize is None else [{"step": "resize", "to": list(self.resize)}]
        return [*resize, {"step": "scale", "to": [0.0, 1.0]}]

    def read(self, inputs: Any) -> Prepared:
        """Return checked pictures (n, H, W, C) of uint8 or float32."""
        if isinstance(inputs, Table):
            raise DataError(
                "X is a table of named columns, and this detector was fitted on pictures: give it pictures"
            )
        height, width, channels = self.shape
        if axes(inputs) <= 2:
            raise DataError(
                f"X has shape {np.shape(inputs)}, and this detector takes images: "
                f"give it (N, {height}, {width}, {channels})"
            )
        if channels == 1 and np.shape(inputs)[3:] == (3,):
            pictures = check_images(inputs, expected=(height, width, 3))
            problems = {int(place): {"": f"it {IN_COLOUR}"} for place in np.flatnonzero(coloured(pictures))}
            return Prepared(as_grey(pictures), problems)
        return Prepared(check_images(inputs, expected=(height, width, channels)))

    def transform(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return pictures as they are: a model's first operation scales uint8 to [0, 1], on its device."""
        return array

    def inverse(self, seen: NDArray[np.float32], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return pixels of uint8 if the inputs have that type, else in [0, 1]."""
        pixels = seen.clip(0, 1)
        return (255 * pixels).round().astype(np.uint8) if dtype == np.uint8 else pixels

    @property
    def statistic_names(self) -> tuple[str, ...]:
        """Those of images, and of their surroundings if training pictures are kept."""
        own = (*image_statistic_names(self.shape), PREDICTED)
        return (*own, *(() if self.surroundings is None else PICTURED))

    def statistics(
        self,
        array: NDArray[Any],
        seen: NDArray[Any],  # noqa: ARG002
        *,
        only: Collection[str] | None = None,
    ) -> dict[str, NDArray[np.float64]]:
        """Return code lengths, spectra, and distances to training pictures, (N,) each.

        Each picture's are its own: many are divided between the cores.
        """
        wanted = set(self.statistic_names if only is None else only)
        # Here and not above, for they take torch, which decoders of pictures start without.
        from dissensus.side_by_side import side_by_side
        from dissensus.tiles import tile_ranges
        from dissensus.torch_threads import usable_threads

        shares = tile_ranges(len(array), SHARE, usable_threads())
        if len(shares) < 2:
            return self._statistics(array, wanted)
        parts: dict[int, dict[str, NDArray[np.float64]]] = {}

        def measured(number: int) -> Iterator[tuple[int, dict[str, NDArray[np.float64]]]]:
            yield number, self._statistics(array[shares[number]], wanted)

        parts.update(side_by_side([measured(number) for number in range(len(shares))], threads=1))
        return {name: np.concatenate([parts[n][name] for n in range(len(shares))]) for name in parts[0]}

    def statistics_on(
        self,
        device: torch.device,
        array: NDArray[Any],
        seen: NDArray[Any],
        *,
        only: Collection[str] | None = None,
    ) -> dict[str, NDArray[np.float64]]:
        """On a GPU all but the length of a code; of pictures of floats nothing."""
        if device.type != "cuda" or array.dtype != np.uint8:
            return self.statistics(array, seen, only=only)
        from dissensus.inputs.in_torch import Picturing, measured_in_tiles

        wanted = set(self.statistic_names) & set(self.statistic_names if only is None else only)
        found = {} if CODE not in wanted else self.statistics(array, seen, only={CODE})
        if rest := wanted - {CODE}:
            found |= measured_in_tiles(Picturing(self, rest), array, rest, device)
        return found

    def _statistics(self, array: NDArray[Any], wanted: set[str]) -> dict[str, NDArray[np.float64]]:
        pixels = as_bytes(array)
        found = {} if CODE not in wanted else {CODE: code_length(pixels)}
        if not wanted.isdisjoint(spectrum_names(self.shape)):
            found |= spectrum(pixels)
        if PREDICTED in wanted:
            found[PREDICTED] = predicted_length(pixels)
        if self.surroundings is not None and not wanted.isdisjoint(PICTURED):
            near = self.surroundings.of_rows(textures(array), array)
            found |= {name: near[name] for name in PICTURED}
        return found

    def without_training_inputs(self) -> PicturePreprocessor:
        """The same without training pictures."""
        return replace(self, surroundings=None)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Textures of training pictures, if any are kept."""
        return {} if self.surroundings is None else self.surroundings.arrays()

    def made_up(self, count: int, random: np.random.Generator) -> NDArray[Any]:
        """Return pictures of noise (n, H, W, C)."""
        return random.integers(0, 256, (count, *self.shape), dtype=np.uint8)

    def blank(self, count: int) -> NDArray[Any]:
        """Return black pictures, which stand for inputs that are missing."""
        return np.zeros((count, *self.shape), dtype=np.uint8)

    def is_single(self, shape: tuple[int, ...]) -> bool:
        """Whether it is one picture and no stack: (H, W, C), or (H, W) or (H, W, 3) of a grey one."""
        sides = self.shape[:2]
        return shape == self.shape or (self.shape[2:] == (1,) and shape in (sides, (*sides, 3)))
