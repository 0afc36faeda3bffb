"""A gate as one ONNX file: from raw pixels or rows to score, p-value and verdict, without torch."""

from dissensus.export.checking import Agreement, agreement, session_of
from dissensus.export.write import OUTPUTS, export_gate, exported, input_of

__all__ = ["OUTPUTS", "Agreement", "agreement", "export_gate", "exported", "input_of", "session_of"]
