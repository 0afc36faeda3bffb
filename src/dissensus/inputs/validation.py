"""The one place where an array becomes valid images or valid rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dissensus.errors import DataError

__all__ = ["MINIMAL_SIDE", "axes", "check_images", "check_rows", "refuse_not_finite"]

MINIMAL_SIDE = 8
_ROUNDING = 1e-6


def check_images(
    array: ArrayLike, *, name: str = "X", expected: tuple[int, int, int] | None = None
) -> NDArray[np.uint8] | NDArray[np.float32]:
    """Check images; return (N, H, W, C), C = 1 or 3, as uint8 in 0..255 or float32 in [0, 1].

    Accepts (N, H, W), (N, H, W, 1) and (N, H, W, 3), of bool (False is black, True is white), of integers
    in 0..255, or of floats in [0, 1]. ``expected`` (H, W, C) is the shape they must have, if any.

    >>> check_images(np.full((2, 8, 8), 7)).shape
    (2, 8, 8, 1)
    """
    images = _as_array(array, name)
    images = _with_channels(images, name)
    if expected is not None and images.shape[1:] != tuple(expected):
        raise DataError(
            f"{name} holds images of {_shape(images.shape[1:])} and {_shape(expected)} was expected; resize "
            "them or convert their channels."
        )
    if images.dtype == np.bool_:
        return images.astype(np.uint8) * np.uint8(255)
    if np.issubdtype(images.dtype, np.integer):
        return _checked_integers(images, name)
    return _checked_floats(images, name)


def check_rows(array: Any, *, numeric: bool = True) -> NDArray[Any]:
    """Rows (N, D) as scikit-learn checks them, of float64, or of anything at all if they need not be numbers.

    Whether they are finite is another question (:func:`refuse_not_finite`).
    """
    from sklearn.utils.validation import check_array

    if hasattr(array, "detach"):  # a torch tensor, told without importing torch
        array = array.detach().cpu().numpy()
    try:
        rows: NDArray[Any] = check_array(
            array, dtype=np.float64 if numeric else None, ensure_all_finite=False, input_name="X"
        )
    except ValueError as error:
        raise DataError(" ".join(str(error).split())) from error
    return rows.astype(np.float64) if not numeric and rows.dtype.kind in "fiu" else rows


def refuse_not_finite(rows: NDArray[np.float64]) -> None:
    """Refuses rows (N, D) that hold NaN or infinite values, and names the first."""
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise DataError(
            f"X holds NaN or infinite values in {(~finite).sum()} of {len(rows)} rows, first in row "
            f"{finite.argmin()}; remove or repair them"
        )


def axes(array: Any) -> int:
    """How many axes an array, or nested lists, have; whatever else there is counts as a table of two."""
    if not isinstance(array, list | tuple):
        return int(getattr(array, "ndim", 2))
    try:
        return int(np.ndim(array))
    except ValueError as error:
        raise DataError(
            "X is made of lists of different lengths; give all rows or images one shape"
        ) from error


def _as_array(array: ArrayLike, name: str) -> NDArray[Any]:
    try:
        images = np.asarray(array)
    except ValueError as error:
        raise DataError(f"{name} cannot be made an array ({error}); give all images one shape.") from error
    if images.dtype.kind not in "buif":
        raise DataError(f"{name} has dtype {images.dtype}; convert it to uint8, or to float in [0, 1].")
    return images


def _with_channels(images: NDArray[Any], name: str) -> NDArray[Any]:
    if images.ndim == 2:
        raise DataError(
            f"{name} has shape {images.shape}: rows or one single image; images need (N, H, W) or "
            "(N, H, W, 3)."
        )
    if images.ndim not in (3, 4):
        raise DataError(f"{name} has shape {images.shape}; images need (N, H, W) or (N, H, W, 3).")
    if images.ndim == 4 and images.shape[3] not in (1, 3):
        remedy = (
            f"channels come last here: pass {name}.transpose(0, 2, 3, 1)"
            if images.shape[1] in (1, 3)
            else "the last axis must be 1 channel (grey) or 3 (RGB)"
        )
        raise DataError(f"{name} has shape {images.shape}; {remedy}.")
    if len(images) == 0:
        raise DataError(f"{name} holds no images; at least one is needed.")
    if min(images.shape[1:3]) < MINIMAL_SIDE:
        raise DataError(
            f"{name} has shape {images.shape}, so images of {images.shape[1]}×{images.shape[2]}; each side "
            f"must be at least {MINIMAL_SIDE}, and a single image needs a first axis of length 1."
        )
    return images[..., None] if images.ndim == 3 else images


def _checked_integers(images: NDArray[Any], name: str) -> NDArray[np.uint8]:
    if images.dtype == np.uint8:
        return images
    low, high = images.min(), images.max()
    if low < 0 or high > 255:
        outside = ((images < 0) | (images > 255)).any(axis=(1, 2, 3))
        raise DataError(
            f"{name} holds integers from {low} to {high}, outside 0..255 first in row {outside.argmax()}; "
            "rescale them to 0..255."
        )
    return images.astype(np.uint8)


def _checked_floats(images: NDArray[Any], name: str) -> NDArray[np.float32]:
    low, high = images.min(), images.max()  # NaN if any value is
    if not (np.isfinite(low) and np.isfinite(high)):
        bad = ~np.isfinite(images).all(axis=(1, 2, 3))
        raise DataError(
            f"{name} holds NaN or infinite values in {bad.sum()} of {len(images)} rows, first in row "
            f"{bad.argmax()}; remove or repair them."
        )
    if low < -_ROUNDING or high > 1 + _ROUNDING:
        remedy = "divide by 255 or pass uint8" if low >= 0 and high <= 255 else "rescale them to [0, 1]"
        raise DataError(f"{name} holds floats from {low:.6g} to {high:.6g}, outside [0, 1]; {remedy}.")
    valid = images.astype(np.float32, copy=False)
    return valid if low >= 0 and high <= 1 else valid.clip(0, 1)


def _shape(shape: tuple[int, ...]) -> str:
    height, width, channels = shape
    return f"{height}×{width} with {channels} channel{'s' if channels > 1 else ''}"
