"""``dissensus confirm``: a person has looked at inputs and says what they are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus.cli.console import messages, print_json, warnings_as_messages
from dissensus.cli.failures import Interrupted, speaking_of
from dissensus.cli.fit import check_output, claim_output
from dissensus.cli.gate_words import what_is_flagged
from dissensus.cli.inspect import gate_facts
from dissensus.cli.options import (
    Device,
    Gate,
    Inputs,
    Json,
    OwnEmbedder,
    OwnModel,
    OwnObservation,
    OwnScore,
    Quiet,
    own_code,
)
from dissensus.cli.progress import StageProgress
from dissensus.errors import SettingsError

__all__ = ["confirm"]


def confirm(
    gate: Gate,
    data: Inputs,
    normal: Annotated[
        bool | None,
        typer.Option(
            "--normal/--outliers", help="What the inputs of DATA are.  [required]", show_default=False
        ),
    ] = None,
    audited: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            min=0,
            max=1,
            help="Of the inputs that were not flagged, the share that was drawn by chance and looked at too; "
            "1 if everything was. Normal inputs join the calibration only so: with 0, where alarms alone "
            "were looked at, they are only remembered.",
        ),
    ] = 0.0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Save to this folder. Default: replace the gate.")
    ] = None,
    score: OwnScore = None,
    model: OwnModel = None,
    observation: OwnObservation = None,
    embed: OwnEmbedder = None,
    device: Device = "auto",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Tell the GATE whether DATA, inputs that you have looked at, are normal or outliers.

    They are remembered: when one comes again, the notes of `dissensus score` say so. Its score stays what it
    is. Normal ones join the calibration inputs if --audited says how inputs were chosen to be looked at, and
    leave them again if they are told to be outliers later.
    """
    if normal is None:
        raise SettingsError("say what you found the inputs of DATA to be: give --normal or --outliers")
    target = output or gate
    check_output(target)
    from dissensus.detector import Detector

    with claim_output(target), warnings_as_messages(data), speaking_of(data):
        detector = Detector.load(gate, device=device, **own_code(score, model, observation, embed))
        with StageProgress({"calibrating": 1.0}, quiet=quiet) as progress:
            try:
                done = detector.confirm(data, normal=normal, audited=audited, on_progress=progress)
            except KeyboardInterrupt:
                raise Interrupted(f"interrupted: {gate} was not changed") from None
        detector.save(target)
    facts = gate_facts(detector, target)
    if json:
        print_json(facts | done._asdict())
    elif not quiet:
        said = f"{target}: {done.remembered} inputs are remembered as {'normal' if normal else 'outliers'}"
        if normal:
            said += (
                f"; {done.joined} of them joined the calibration, now {facts['calibration_inputs']} inputs"
            )
        elif done.left:
            said += (
                f"; {done.left} calibration inputs turned out to be outliers and left, now "
                f"{facts['calibration_inputs']} inputs"
            )
        if done.joined or done.left:
            said += f"; flags {what_is_flagged(facts)}"
        elif normal and not audited:
            said += (
                ". Alarms alone say nothing about all normal inputs: look at a share of the others too, "
                "drawn by chance, and give it as --audited"
            )
        messages().print(said, markup=False, soft_wrap=True)
