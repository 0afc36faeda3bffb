"""``dissensus calibrate``: new inliers decide what is unusual; nothing is learnt again."""

from __future__ import annotations

import math
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
from dissensus.errors import DataError

__all__ = ["calibrate"]


def calibrate(
    gate: Gate,
    data: Inputs,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Save to this folder. Default: replace the gate.")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Add to the calibration inputs instead of replacing them.")
    ] = False,
    false_alarm_rate: Annotated[
        float | None, typer.Option(help="Share of normal inputs that may be flagged. Default: as it is.")
    ] = None,
    score: OwnScore = None,
    model: OwnModel = None,
    observation: OwnObservation = None,
    embed: OwnEmbedder = None,
    device: Device = "auto",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Set the threshold anew by DATA: inputs known to be normal that the gate was not fitted on.

    P-values and the threshold change, the learnt draws do not. The gate on disk is replaced as a whole when
    everything is done; until then it stays as it is.
    """
    target = output or gate
    check_output(target)
    from dissensus.decisions import least_calibration_size
    from dissensus.detector import Detector

    with claim_output(target), warnings_as_messages(data), speaking_of(data):
        detector = Detector.load(gate, device=device, **own_code(score, model, observation, embed))
        could_flag = math.isfinite(detector.threshold_)
        if false_alarm_rate is not None:
            detector.set_params(false_alarm_rate=false_alarm_rate)
        with StageProgress({"calibrating": 1.0}, quiet=quiet) as progress:
            try:
                detector.recalibrate(data, keep=keep, on_progress=progress)
            except KeyboardInterrupt:
                raise Interrupted(f"interrupted: {gate} was not changed") from None
        if could_flag and math.isinf(detector.threshold_):
            rate, size = detector.false_alarm_rate, len(detector.calibration_scores_)
            raise DataError(
                f"{data} gives too few inputs to calibrate on ({size} in all, and a false-alarm rate of "
                f"{rate:g} takes {least_calibration_size(rate)}): nothing would be flagged any more, so "
                "nothing was saved; give more, add them to the present ones (--keep), or ask for a higher "
                "--false-alarm-rate"
            )
        detector.save(target)
    facts = gate_facts(detector, target)
    if json:
        print_json(facts)
    elif not quiet:
        messages().print(
            f"{target}: {facts['calibration_inputs']} calibration inputs, flags {what_is_flagged(facts)}, "
            f"at a false-alarm rate of {facts['false_alarm_rate']:g}",
            markup=False,
            soft_wrap=True,
        )
