"""What a detector takes, and does to it before the networks see it: words and numbers for its saved form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dissensus.inputs.standardiser import FARTHEST

if TYPE_CHECKING:
    from dissensus.detector.estimator import BayesianVAE

__all__ = ["input_contract", "preprocessing"]


def input_contract(detector: BayesianVAE) -> dict[str, Any]:
    """Kind and shape of one input, and the types it may have with the range of their values.

    Images have shape (H, W, C), vectors (D,); a table is a set of vectors whose columns have names.
    """
    shape = list(detector.input_shape_)
    if len(shape) == 3:
        accepts = {"uint8": [0, 255], "float32": [0.0, 1.0]}
        return {"kind": "images", "shape": shape, "accepts": accepts}
    named = hasattr(detector, "feature_names_in_") or getattr(detector, "table_", None) is not None
    return {"kind": "table" if named else "vectors", "shape": shape, "accepts": {"float64": "finite"}}


def preprocessing(detector: BayesianVAE) -> list[dict[str, Any]]:
    """The steps from an input to the networks, in order; the numbers of each are saved with the detector."""
    if len(detector.input_shape_) == 3:
        resize = [] if detector.resize is None else [{"step": "resize", "to": list(detector.resize)}]
        return [*resize, {"step": "scale", "to": [0.0, 1.0]}]
    encode = [] if getattr(detector, "table_", None) is None else [{"step": "encode columns"}]
    return [*encode, {"step": "standardise"}, {"step": "clip", "to": [-FARTHEST, FARTHEST]}]
