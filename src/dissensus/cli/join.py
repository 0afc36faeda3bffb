"""``dissensus join``: chains that several machines ran become one gate."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from dissensus.cli.console import print_json, warnings_as_messages
from dissensus.cli.failures import Interrupted
from dissensus.cli.fit import check_output, claim_output, print_summary, summary_of
from dissensus.cli.options import (
    Device,
    Json,
    OwnEmbedder,
    OwnModel,
    OwnObservation,
    OwnScore,
    Quiet,
    own_code,
)
from dissensus.cli.progress import StageProgress

__all__ = ["join"]


def join(
    parts: Annotated[
        list[Path],
        typer.Argument(
            metavar="PARTS", help="The folders that dissensus fit --chain-offset wrote, in any order."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The folder the gate is saved in. A gate there is replaced."),
    ],
    score: OwnScore = None,
    model: OwnModel = None,
    observation: OwnObservation = None,
    embed: OwnEmbedder = None,
    device: Device = "auto",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Join the chains of a fit in parts to one gate: the one that a single machine would have fitted.

    The score learns, and is calibrated, here and once, on inputs that no chain has seen; they lie in the
    parts. Parts of other settings or other inputs are refused, and the parts stay as they are.
    """
    check_output(output)
    began = time.monotonic()
    from dissensus.detector import Chains, join_chains

    with claim_output(output), StageProgress({"calibrating": 1.0}, quiet=quiet) as progress:
        try:
            with warnings_as_messages():
                own = own_code(score, model, observation, embed)
                chains = [Chains.load(part, device=device, **own) for part in parts]
                gate = join_chains(chains, on_progress=progress)
            gate.save(output)
        except KeyboardInterrupt:
            raise Interrupted("interrupted: nothing was written; give the same command again") from None
    summary = summary_of(gate, output, sum(gate.fitted_rows_.values()), time.monotonic() - began)
    if json:
        print_json(summary | {"parts": len(parts)})
    elif not quiet:
        print_summary(summary, output)
