"""``export_gate``: a detector in, an ONNX file out."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.destination import write_output
from dissensus.errors import SettingsError, brief
from dissensus.export.fusing import Deciding, Fusing, OfMatrix
from dissensus.export.looking import Looking
from dissensus.export.picturing import Picturing
from dissensus.inputs.pictures import PicturePreprocessor
from dissensus.scores import Fused

if TYPE_CHECKING:
    from dissensus.detector import Detector

__all__ = ["ExportedGate", "export_gate"]

OPSET = 17
INPUT, OUTPUTS = "pixels", ("score", "p_value", "flagged")


class ExportedGate(nn.Module):
    """Score, p-value and verdict (N,) of uint8 pictures (N, H, W, C)."""

    def __init__(self, gate: Detector) -> None:
        super().__init__()
        learnt = gate.asked_
        check_exportable(gate)
        assert isinstance(learnt.score, Fused)
        assert isinstance(learnt.preprocessor, PicturePreprocessor)
        wanted = learnt.score.requires
        self.looking = Looking(learnt.model, learnt.draws, wanted)
        self.of_matrix = OfMatrix(learnt.score)
        self.picturing = Picturing(learnt.preprocessor, wanted)
        self.fusing = Fusing(learnt.score)
        self.deciding = Deciding(gate.calibration_scores_, gate.threshold_)
        self.requires_grad_(False)

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """In float64, float64 and truth values."""
        x = pixels.permute(0, 3, 1, 2).to(torch.float32) / 255
        matrix, found = self.looking(x)
        score = self.fusing({**self.of_matrix(matrix), **found, **self.picturing(pixels)})
        return (score, *self.deciding(score))


def check_exportable(gate: Detector) -> None:
    """Refuse a gate that no graph can be made of, in one sentence that says why."""
    learnt = gate.asked_
    if not isinstance(learnt.preprocessor, PicturePreprocessor):
        raise SettingsError(
            f"a gate of {learnt.preprocessor.kind} cannot be exported yet, only one of pictures: serve it by "
            "`dissensus serve`"
        )
    if not learnt.effort.looks:
        raise SettingsError(
            f"this gate's effort {learnt.effort.name!r} takes samples and PNG codes and cannot be exported: "
            "choose fast or standard, which a gate of pictures with the score 'fused' has"
        )


def export_gate(gate: Detector, path: str | Path) -> None:
    """Writes the gate, as it is asked with its present effort, to one ONNX file."""
    module = ExportedGate(gate).eval()
    pictures = torch.from_numpy(np.ascontiguousarray(gate.preprocessor_.blank(2)))
    buffer = io.BytesIO()
    try:
        with warnings.catch_warnings(), torch.no_grad():
            # Of tracing: shapes are fixed but for the number of inputs. The newer exporter takes packages
            # that nothing else here needs.
            warnings.simplefilter("ignore")
            torch.onnx.export(
                module,
                (pictures,),
                buffer,  # type: ignore[arg-type]  # the exporter that is asked for takes it
                dynamo=False,
                opset_version=OPSET,
                input_names=[INPUT],
                output_names=list(OUTPUTS),
                dynamic_axes={name: {0: "inputs"} for name in (INPUT, *OUTPUTS)},
            )
    except torch.onnx.errors.OnnxExporterError as error:
        raise SettingsError(f"this gate's model cannot be exported: {brief(error)}") from error
    write_output(Path(path), buffer.getvalue())
