"""The command ``python -m benchmarks service``: arguments in, calls out."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.places import RESULTS

__all__ = ["service"]

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
    output: Annotated[Path, typer.Option(help="Where the record goes.")] = RESULTS / "service",
    json: Annotated[bool, typer.Option("--json", help="Print the record instead of sentences.")] = False,
) -> None:
    """Measure how the service bears load: throughput, overload, replaced gates, SIGTERM, memory."""
    from rich.console import Console

    from benchmarks.guarantees.scores import fitted_detector
    from benchmarks.service.measure import Plan, measure_service
    from benchmarks.service.sentences import service_sentences
    from dissensus.destination import check_folder
    from dissensus.detector import BayesianVAE
    from dissensus.evaluation import environment, write_record
    from dissensus.inputs import load_sample

    check_folder(output)
    with Console(stderr=True).status("starting") as status:
        detector = fitted_detector(
            gate, seed=0, on_progress=lambda stage, done, total: status.update(f"{stage} {done}/{total}")
        )
        train, test = load_sample()
        small = BayesianVAE(**SMALL).fit(train.images[:600])
        plan = Plan(clients=clients, seconds=seconds, requests=requests, bound=bound)
        record = measure_service(detector, test.images[:256], plan, small=small, on_stage=status.update)
    record["memory"]["small_gate"] = SMALL
    record |= {"environment": environment()}
    write_record(output / "service.json", record)
    if json:
        typer.echo(json_text.dumps(record, allow_nan=False))
        return
    console = Console(highlight=False)
    for sentence in service_sentences(record):
        console.print(f"• {sentence}", markup=False, soft_wrap=True)
    console.print(str(output / "service.json"), markup=False, soft_wrap=True)
