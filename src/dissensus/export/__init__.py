"""A gate as one ONNX file: from raw pixels to score, p-value and verdict, without torch at run time."""

from dissensus.export.checking import Agreement, agreement, session_of
from dissensus.export.write import INPUT, OUTPUTS, export_gate

__all__ = ["INPUT", "OUTPUTS", "Agreement", "agreement", "export_gate", "session_of"]
