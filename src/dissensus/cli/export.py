"""``dissensus export``: from a gate to one ONNX file that a small machine can run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dissensus.cli.console import messages, print_json, results, warnings_as_messages
from dissensus.cli.options import EffortName, Gate, Json, OwnModel, OwnObservation, Quiet, own_code
from dissensus.destination import Destination
from dissensus.errors import DissensusError, SettingsError, brief

if TYPE_CHECKING:
    from dissensus.detector import Detector

__all__ = ["export"]

SUFFIXES = ("", ".onnx")
TRIED = 64  # inputs that file and gate are compared on
TOLERANCE = 0.01  # of a score


def export(
    gate: Gate,
    output: Annotated[
        str,
        typer.Argument(
            metavar="OUTPUT",
            help="The .onnx file to write; a file there is replaced. Or a pipe, a device, or - for stdout.",
        ),
    ],
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
    with Destination(output) as place:
        if json and place.is_stdout:
            raise SettingsError("--json prints to stdout, where the gate would go too: name a file")
        if place.is_terminal:
            raise SettingsError("an ONNX file is no text for a terminal: name a file")
        if place.file is not None and Path(place.name).suffix.lower() not in SUFFIXES:
            raise SettingsError(
                f"{output} would be an ONNX file: name it {Path(output).with_suffix('.onnx')}"
            )
        from dissensus.detector import Detector
        from dissensus.export import OUTPUTS, exported, input_of

        with warnings_as_messages():
            detector = Detector.load(gate, device="cpu", **own_code(None, model, observation, None))
        detector.effort = effort.value
        made = exported(detector)
        compared = _compared(detector, made)
        place.write(made)
    if json:
        print_json(
            {
                "gate": str(gate),
                "output": output,
                "bytes": len(made),
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
        )
    elif not quiet:
        out = messages() if place.is_stdout else results()
        shape = ", ".join(map(str, ("N", *detector.preprocessor_.shape)))
        kind = "uint8 pixels" if detector.preprocessor_.pictured else "float64 rows"
        out.print(f"{output}: {len(made) / 1e6:.1f} MB, {kind} ({shape}) in", markup=False, soft_wrap=True)
        if compared is None:
            out.print("not compared with the gate: that takes pip install 'dissensus[onnx]'", markup=False)
        else:
            out.print(
                f"compared on {compared['inputs']} inputs: scores differ by at most "
                f"{compared['largest_difference']:.1g}, {compared['same_verdicts']} verdicts are the same"
            )


def _compared(detector: Detector, made: bytes) -> dict[str, Any] | None:
    """How what was made agrees with the gate, or an error if it does not; None without onnxruntime."""
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
