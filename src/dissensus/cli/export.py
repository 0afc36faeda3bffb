"""``dissensus export``: from a gate to one ONNX file that a small machine can run."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dissensus.cli.console import print_json, results, warnings_as_messages
from dissensus.cli.options import EffortName, Gate, Json, OwnModel, OwnObservation, Quiet, own_code
from dissensus.destination import check_folder, write_output
from dissensus.errors import DissensusError, brief

if TYPE_CHECKING:
    from dissensus.detector import Detector

__all__ = ["export"]

TRIED = 64  # inputs that file and gate are compared on
TOLERANCE = 0.01  # of a score


def export(
    gate: Gate,
    output: Annotated[Path, typer.Argument(help="The .onnx file to write; a file there is replaced.")],
    effort: Annotated[
        EffortName, typer.Option(help="fast or standard; what thorough takes cannot be exported.")
    ] = EffortName.fast,
    model: OwnModel = None,
    observation: OwnObservation = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a GATE of pictures or of rows of numbers as one ONNX file, from raw input to verdict.

    The file is run by onnxruntime, without this package and without torch. Where onnxruntime is installed
    here, file and gate are compared on some of the gate's own training inputs and on noise.
    """
    from dissensus.detector import Detector
    from dissensus.export import OUTPUTS, export_gate, input_of

    check_folder(output.absolute().parent)
    with warnings_as_messages():
        detector = Detector.load(gate, device="cpu", **own_code(None, model, observation, None))
    detector.effort = effort.value
    with TemporaryDirectory() as scratch:
        made = Path(scratch) / "gate.onnx"
        export_gate(detector, made)
        compared, size = _compared(detector, made), made.stat().st_size
        write_output(output, made.read_bytes())  # what stood there is replaced by what was compared
    summary = {
        "gate": str(gate),
        "output": str(output),
        "bytes": size,
        "effort": effort.value,
        "false_alarm_rate": float(detector.false_alarm_rate),
        "input": {
            "name": input_of(detector),
            "type": str(detector.preprocessor_.blank(1).dtype),
            "shape": ["inputs", *detector.preprocessor_.shape],
        },
        "outputs": list(OUTPUTS),
        "compared": compared,
    }
    if json:
        print_json(summary)
    elif not quiet:
        out = results()
        shape = ", ".join(map(str, ("N", *detector.preprocessor_.shape)))
        kind = "uint8 pixels" if detector.preprocessor_.pictured else "float64 rows"
        out.print(f"{output}: {size / 1e6:.1f} MB, {kind} ({shape}) in", markup=False)
        if compared is None:
            out.print("not compared with the gate: that takes pip install 'dissensus[onnx]'", markup=False)
        else:
            out.print(
                f"compared on {compared['inputs']} inputs: scores differ by at most "
                f"{compared['largest_difference']:.1g}, {compared['same_verdicts']} verdicts are the same"
            )


def _compared(detector: Detector, made: Path) -> dict[str, Any] | None:
    """How file and gate agree, or an error if they do not; None where there is no onnxruntime."""
    import numpy as np

    from dissensus.export import agreement

    preprocessor, kept = detector.preprocessor_, detector.examples_.inputs[:TRIED]
    noise = preprocessor.made_up(TRIED, np.random.default_rng(0))
    if not preprocessor.pictured:
        noise = preprocessor.inverse(noise, np.dtype(np.float64))
    inputs = np.concatenate([kept, noise]) if kept.dtype == noise.dtype else noise
    try:
        found = agreement(detector, made, inputs)
    except ImportError:
        return None
    except RuntimeError as error:  # a model of one's own that takes another number of inputs for a mistake
        wrong = f"cannot be run ({brief(error)})"
    else:
        if found.largest_difference <= TOLERANCE:
            return found._asdict()
        wrong = f"gives scores that differ by {found.largest_difference:.2g} from the gate's"
    raise DissensusError(
        f"what was exported {wrong}, so nothing was written: serve the gate by `dissensus serve`, and report "
        "this with the gate's config.json"
    )
