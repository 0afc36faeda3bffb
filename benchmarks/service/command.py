"""The command ``python -m benchmarks service``: arguments in, calls out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchmarks.places import RESULTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.pieces import Found
    from benchmarks.service.measure import Plan

__all__ = ["GROUP", "service"]

GROUP, THROUGHPUT = "service", "throughput"

# Of the part of memory: what is left of a request is the same whatever the gate, and 20,000 must end.
SMALL: dict[str, Any] = {
    "epochs": 2,
    "draws": 4,
    "samples": 4,
    "widths": (8,),
    "latent_size": 4,
    "random_state": 0,
}


def service(
    gate: Annotated[
        Path | None, typer.Option(help="A gate that `dissensus demo` saved. Default: fit one, in minutes.")
    ] = None,
    clients: Annotated[int, typer.Option(min=1, help="That ask at once.")] = 64,
    seconds: Annotated[float, typer.Option(min=0.5, help="Of each part but that of memory.")] = 30.0,
    requests: Annotated[int, typer.Option(min=20, help="Of the part of memory.")] = 20_000,
    bound: Annotated[float, typer.Option(min=0.1, help="Seconds that a request may take.")] = 5.0,
    only_throughput: Annotated[
        bool, typer.Option("--throughput", help="What a request costs, and no more; a record of its own.")
    ] = False,
    output: Annotated[Path, typer.Option(help="Where the record goes.")] = RESULTS / "service",
    table: Annotated[
        bool, typer.Option("--table", help="Measure nothing: the sentences from the record.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Measure even what has a record already.")] = False,
) -> None:
    """Measure how the service bears load: throughput, overload, replaced gates, SIGTERM, memory."""
    from dataclasses import asdict

    import torch
    from rich.console import Console

    from benchmarks.devices import hardware
    from benchmarks.pieces import Piece, measure_missing
    from benchmarks.records import Records
    from benchmarks.service.gate import HOW
    from benchmarks.service.measure import Plan
    from benchmarks.service.sentences import service_sentences
    from dissensus.destination import check_folder

    check_folder(output)
    records = Records(output)
    if not table:
        plan = Plan(clients=clients, seconds=seconds, requests=requests, bound=bound)
        here = hardware(torch.device("cpu"))  # on other hardware it is another measurement
        settings = {**asdict(plan), "gate": HOW, "small_gate": SMALL, "hardware": here}
        if gate is not None:
            settings["gate"] = "one that was given"

        def measure(say: Callable[[str], None]) -> Found:
            return _measured(gate, plan, say, only_throughput=only_throughput)

        # A gate that was given may be another one next time.
        again = again or gate is not None
        group = THROUGHPUT if only_throughput else GROUP
        piece = Piece(group, "load", settings, measure)
        measure_missing(records, [piece], Console(stderr=True, highlight=False), again=again)
    console = Console(highlight=False)
    for record in records.read(GROUP):
        for sentence in service_sentences(record):
            console.print(f"• {sentence}", markup=False, soft_wrap=True)


def _measured(gate: Path | None, plan: Plan, say: Callable[[str], None], *, only_throughput: bool) -> Found:
    from benchmarks.pieces import Found
    from benchmarks.rows import in_rows
    from benchmarks.service.gate import served_gate
    from benchmarks.service.measure import measure_service
    from dissensus.detector import BayesianVAE
    from dissensus.inputs import load_sample

    detector = served_gate(gate, say=say)
    train, test = load_sample()
    small = None if only_throughput else BayesianVAE(**SMALL).fit(train.images[:600])
    parts = measure_service(
        detector, test.images[:256], plan, small=small, only_throughput=only_throughput, on_stage=say
    )
    return Found(*in_rows(parts))
