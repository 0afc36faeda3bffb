"""A network in an ONNX file as an embedder, known again by the digest of the file."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.errors import DataError, SettingsError, brief
from dissensus.inputs.embedders.contract import Embedder

__all__ = ["OnnxEmbedder"]

TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(uint8)": np.uint8,
}


class OnnxEmbedder(Embedder):
    """Runs the first output of a graph with one input (extra ``onnx``), on the CPU, one input a call.

    Pictures come to it as (n, C, H, W) of the type that the graph declares: floats in [0, 1], or uint8. Rows
    come as (n, D).
    """

    parallel = True

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._session: Any = None
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise SettingsError(f"{path} cannot be read ({brief(error)}): name an ONNX file") from error
        self._digest = hashlib.sha256(content).hexdigest()
        # Read once, so that what runs is what was digested; weights in other files would be neither.
        self._session = _session(content, self.path)
        [given, *others] = self._session.get_inputs()
        if others or given.type not in TYPES:
            raise SettingsError(
                f"{path} takes {'several inputs' if others else given.type}: give it one input of floats or "
                "uint8"
            )
        self._input, self._type = given.name, TYPES[given.type]
        self._output = self._session.get_outputs()[0].name

    def __call__(self, batch: Any, /) -> Any:
        """What the graph gives."""
        if not isinstance(batch, np.ndarray):
            raise DataError("an ONNX file embeds pictures and rows of numbers, and nothing else")
        if batch.dtype == np.uint8 and self._type != np.uint8:
            batch = batch.astype(np.float32) / np.float32(255)
        return self._session.run([self._output], {self._input: batch.astype(self._type)})[0]

    def config(self) -> dict[str, Any]:
        """Return no arguments: where the file lies means nothing on another machine."""
        return {}

    def digest(self) -> str:
        """Return the SHA-256 of the file."""
        return self._digest

    def __reduce__(self) -> Any:
        """Copied and pickled as its path: a session is neither."""
        return type(self), (self.path,)


def _session(content: bytes, path: Path) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise SettingsError("an ONNX file needs onnxruntime: pip install 'dissensus[onnx]'") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # the same bits on every number of cores
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its own kinds, which are no common one
        raise SettingsError(f"{path} is no ONNX file that can be run ({brief(error)})") from error
