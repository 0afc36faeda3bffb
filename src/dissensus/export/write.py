"""``export_gate``: a detector in, an ONNX file out."""

from __future__ import annotations

import io
import os
import warnings
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.destination import Destination
from dissensus.errors import SettingsError, brief
from dissensus.export.fusing import Deciding, Fusing, OfMatrix
from dissensus.export.looking import Looking
from dissensus.export.rowing import Rowing, Standardising
from dissensus.inputs.in_torch.picturing import Picturing
from dissensus.inputs.pictures import PicturePreprocessor
from dissensus.inputs.rows import RowPreprocessor
from dissensus.scores import MATRIX, Fused

if TYPE_CHECKING:
    from dissensus.detector import Detector
    from dissensus.detector.learnt import Learnt

__all__ = ["OUTPUTS", "ExportedGate", "export_gate", "exported", "input_of"]

OPSET = 17
PIXELS, ROWS, OUTPUTS = "pixels", "rows", ("score", "p_value", "flagged")


class ExportedGate(nn.Module):
    """Score, p-value and verdict (N,) of uint8 pictures (N, H, W, C), or of rows (N, D) of float64."""

    def __init__(self, gate: Detector) -> None:
        super().__init__()
        check_exportable(gate)
        learnt = gate.asked_
        assert isinstance(learnt.score, Fused)
        wanted = learnt.score.requires
        own = learnt.preprocessor
        self.reading: nn.Module
        self.without_model: nn.Module
        if isinstance(own, PicturePreprocessor):
            self.reading, self.without_model = _Pixels(), Picturing(own, wanted)
        else:
            assert isinstance(own, RowPreprocessor)
            self.reading, self.without_model = Standardising(own), Rowing(own, wanted)
        self.looking = Looking(learnt.model, learnt.draws, wanted) if _asks_draws(learnt) else None
        self.of_matrix = OfMatrix(learnt.score)
        self.fusing = Fusing(learnt.score)
        self.deciding = Deciding(gate.calibration_scores_, gate.threshold_)
        self.requires_grad_(False)

    def forward(self, given: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """In float64, float64 and truth values."""
        seen = self.reading(given)
        found = dict(self.without_model(given, seen))
        if self.looking is not None:
            matrix, others = self.looking(seen)
            found |= {**self.of_matrix(matrix), **others}
        score = self.fusing(found)
        return (score, *self.deciding(score))


class _Pixels(nn.Module):
    """Pictures (N, H, W, C) as networks read them: (N, C, H, W) in [0, 1]."""

    def forward(self, pixels: Tensor) -> Tensor:
        """In float32."""
        return pixels.permute(0, 3, 1, 2).to(torch.float32) / 255


def _asks_draws(learnt: Learnt) -> bool:
    return bool({MATRIX, *learnt.model.observed} & set(learnt.score.requires))


def check_exportable(gate: Detector) -> None:
    """Refuse a gate that no graph can be made of, in one sentence that says why."""
    learnt = gate.asked_
    kind = learnt.preprocessor.kind
    if named := [name for name in learnt.score.requires if name in learnt.model.further]:
        raise SettingsError(
            f"a gate whose score names {named[0]!r} cannot be exported, for ONNX has no gradients: "
            "fuse other statistics, or serve it by `dissensus serve`"
        )
    if not isinstance(learnt.score, Fused):
        raise SettingsError(
            f"a gate with the score {learnt.score.name!r} cannot be exported, only one with 'fused': serve "
            "it by `dissensus serve`"
        )
    if kind not in ("images", "vectors") or not isinstance(
        learnt.preprocessor, PicturePreprocessor | RowPreprocessor
    ):
        kinds = "tables" if kind == "table" else "embedded inputs"
        raise SettingsError(
            f"a gate of {kinds} cannot be exported, for ONNX has no embedders and no columns of words "
            "and dates: fit it on pictures or on rows of numbers, or serve it by `dissensus serve`"
        )
    if _asks_draws(learnt) and learnt.model.noise_size and not learnt.effort.looks:
        raise SettingsError(
            f"this gate's effort {learnt.effort.name!r} takes samples of a VAE and cannot be exported: "
            "choose fast or standard, which a gate of pictures with the score 'fused' has"
        )


def input_of(gate: Detector) -> str:
    """What the file calls its input."""
    return PIXELS if gate.preprocessor_.pictured else ROWS


def export_gate(gate: Detector, path: str | os.PathLike[str]) -> None:
    """Writes the gate, as it is asked with its present effort, to one ONNX file."""
    with Destination(path) as output:
        output.write(exported(gate))


def exported(gate: Detector) -> bytes:
    """Return what such a file holds."""
    module = ExportedGate(gate).eval()
    blank = torch.from_numpy(np.ascontiguousarray(gate.preprocessor_.blank(2)))
    name = input_of(gate)
    buffer = io.BytesIO()
    try:
        with warnings.catch_warnings(), torch.no_grad():
            # Of tracing: shapes are fixed but for the number of inputs. The newer exporter takes packages
            # that nothing else here needs.
            warnings.simplefilter("ignore")
            torch.onnx.export(
                module,
                (blank,),
                buffer,  # type: ignore[arg-type]  # the exporter that is asked for takes it
                dynamo=False,
                opset_version=OPSET,
                input_names=[name],
                output_names=list(OUTPUTS),
                dynamic_axes={each: {0: "inputs"} for each in (name, *OUTPUTS)},
            )
    except torch.onnx.errors.OnnxExporterError as error:
        raise SettingsError(f"this gate's model cannot be exported: {brief(error)}") from error
    return buffer.getvalue()
