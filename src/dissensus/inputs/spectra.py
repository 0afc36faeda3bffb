"""How coarse or fine, how coloured and how directed the detail of an image is, whatever a model thinks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from dissensus.errors import DataError

__all__ = ["ROUNDING", "SPECTRUM", "bands", "directions", "spectrum", "spectrum_names"]

# Upper ends of all bands but the last, as shares of the finest frequency: the first band holds only the
# mean, the last the finest detail of all.
EDGES = (0.04, 0.1, 0.2, 0.4, 0.7)
FINE = 0.2  # where the direction of fine detail begins
LEVELS = 255
ROUNDING = 1 / (12 * LEVELS**2)  # energy that rounding to so many levels leaves in every frequency
CHUNK = 1 << 20  # numbers that are transformed at a time

SPECTRUM: Mapping[str, str] = MappingProxyType(
    {
        "detail-1": "how bright it is all over",
        "detail-2": "how strong its coarsest detail is",
        "detail-3": "how strong its coarse detail is",
        "detail-4": "how strong its middling detail is",
        "detail-5": "how strong its fine detail is",
        "detail-6": "how strong its finest detail is",
        "colour-1": "how coloured it is all over",
        "colour-2": "how coloured its coarsest detail is",
        "colour-3": "how coloured its coarse detail is",
        "colour-4": "how coloured its middling detail is",
        "colour-5": "how coloured its fine detail is",
        "colour-6": "how coloured its finest detail is",
        "direction-coarse": "whether its coarse detail lies flat or stands upright",
        "direction-fine": "whether its fine detail lies flat or stands upright",
    }
)
"""Every statistic with what it says of an image. Small images lack some bands, grey ones all colours."""


def spectrum_names(shape: Sequence[int]) -> tuple[str, ...]:
    """Return the names of the statistics of images of shape (H, W, C).

    >>> spectrum_names((8, 8, 1))[:3]
    ('detail-1', 'detail-3', 'detail-4')
    """
    height, width, channels = shape
    numbers = bands(height, width)
    kinds = ("detail", "colour") if channels > 1 else ("detail",)
    names = [f"{kind}-{band}" for kind in kinds for band in numbers]
    return (*names, *(f"direction-{part}" for part in directions(height, width)))


def spectrum(images: NDArray[np.uint8]) -> dict[str, NDArray[np.float64]]:
    r"""The statistics :func:`spectrum_names` (N,), by name, of images uint8 (N, H, W, C); microseconds each.

    With :math:`y` the mean over channels and :math:`F` the orthonormal cosine transform of an image:
    ``detail-b`` is :math:`\log \sum_{f ∈ b} (F y)_f^2` over a band of frequencies, ``colour-b`` the same of
    the channels' differences from y, summed over channels. ``direction`` is how much more energy the upright
    frequencies have than the flat ones, as a logarithm of their ratio. All sums count what rounding to 256
    levels would add to them, so that there is a logarithm of nothing.

    >>> flat = np.full((1, 8, 8, 1), 255, np.uint8)
    >>> {name: float(value[0].round(1)) for name, value in spectrum(flat).items()}["detail-1"]
    4.2
    """
    if images.dtype != np.uint8 or images.ndim != 4 or 0 in images.shape[1:]:
        raise DataError(
            f"a spectrum is that of uint8 images (N, H, W, C), not {images.dtype} of shape {images.shape}."
        )
    names = spectrum_names(images.shape[1:])
    rows = max(1, CHUNK // images[0].size) if len(images) else 1
    parts = [_of_some(images[start : start + rows]) for start in range(0, len(images), rows)]
    return {name: np.concatenate([np.empty(0), *(part[name] for part in parts)]) for name in names}


def _of_some(images: NDArray[np.uint8]) -> dict[str, NDArray[np.float64]]:
    height, width, channels = images.shape[1:]
    scaled = np.moveaxis(images, 3, 1) / LEVELS
    mean = scaled.mean(axis=1)
    energies = {"detail": _energies(mean[:, None])}
    if channels > 1:
        energies["colour"] = _energies(scaled - mean[:, None])
    found = {
        f"{kind}-{band}": _log_sum(energy, members)
        for kind, energy in energies.items()
        for band, members in bands(height, width).items()
    }
    for part, (upright, flat) in directions(height, width).items():
        detail = energies["detail"]
        found[f"direction-{part}"] = _log_sum(detail, upright) - _log_sum(detail, flat)
    return found


def _energies(planes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of planes (N, C, H, W), each frequency's, summed over planes: (N, H·W)."""
    from scipy.fft import dctn

    total: NDArray[np.float64] = np.square(dctn(planes, axes=(2, 3), norm="ortho")).sum(axis=1)
    return total.reshape(len(planes), -1)


def _log_sum(energies: NDArray[np.float64], members: NDArray[np.intp]) -> NDArray[np.float64]:
    total: NDArray[np.float64] = energies.take(members, axis=1).sum(axis=1)
    return np.log(total + len(members) * ROUNDING)


@lru_cache(maxsize=16)
def bands(height: int, width: int) -> dict[int, NDArray[np.intp]]:
    """The frequencies, as places in H·W, of every band that has any; bands are counted from 1."""
    down, across = _frequencies(height, width)
    band = 1 + np.digitize(np.hypot(down, across), EDGES)
    members = {number: np.flatnonzero(band == number) for number in range(1, len(EDGES) + 2)}
    return {number: places for number, places in members.items() if len(places)}


@lru_cache(maxsize=16)
def directions(height: int, width: int) -> dict[str, tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """The frequencies of upright detail, which changes across, and of flat detail, coarse and fine."""
    down, across = _frequencies(height, width)
    fine = np.hypot(down, across) >= FINE
    found = {}
    for part, members in (("coarse", ~fine), ("fine", fine)):
        upright, flat = (np.flatnonzero(members & side) for side in (across > down, down > across))
        if len(upright) and len(flat):
            found[part] = upright, flat
    return found


def _frequencies(height: int, width: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of each place in H·W, downwards and across, as a share of the finest: (H·W,) each."""
    down, across = np.meshgrid(np.arange(height) / height, np.arange(width) / width, indexing="ij")
    return down.ravel(), across.ravel()
