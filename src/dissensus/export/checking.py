"""Whether an exported file says what its gate says, by onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dissensus.export.write import input_of
from dissensus.inputs import Prepared
from dissensus.tiles import slices

if TYPE_CHECKING:
    from dissensus.detector import Detector

__all__ = ["Agreement", "agreement", "session_of"]

CHUNK = 256  # inputs that the file is asked about at a time


class Agreement(NamedTuple):
    """What a file and its gate say of the same inputs."""

    inputs: int
    largest_difference: float
    """Of two scores."""
    same_verdicts: int


def agreement(gate: Detector, file: str | Path | bytes, inputs: NDArray[Any]) -> Agreement:
    """Compare what the file and the gate say of inputs as they were read; takes the extra ``onnx``.

    Instead of the file's name, what it will hold can be given.
    """
    session, ours = session_of(file), gate.decide(Prepared(inputs))
    parts = [
        session.run(None, {input_of(gate): inputs[some]}) for some in slices(slice(0, len(inputs)), CHUNK)
    ]
    score, _, flagged = map(np.concatenate, zip(*parts, strict=True))
    with np.errstate(invalid="ignore"):
        away = np.where(score == ours.score, 0.0, np.abs(score - ours.score))
    return Agreement(len(inputs), float(away.max()), int((flagged == ours.flagged).sum()))


def session_of(file: str | Path | bytes, *, threads: int = 0) -> Any:
    """An onnxruntime session on so many threads; 0: as many as it likes."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    content = file if isinstance(file, bytes) else str(file)
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
