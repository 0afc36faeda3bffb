"""The command ``python -m benchmarks densities``: arguments in, calls out."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from benchmarks import options
from benchmarks.places import CACHE

__all__ = ["PAIRS", "densities"]

PAIRS = ("cifar10", "svhn")


class Size(StrEnum):
    """How much there is to learn from, and how large the networks are."""

    full = "full"
    small = "small"


def densities(
    inliers: Annotated[
        list[str] | None,
        typer.Option(help="An in-distribution set of the panel; may be repeated. Default: cifar10, svhn."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="A density, or no-model; may be repeated. Default: all."),
    ] = None,
    size: Annotated[Size, typer.Option(help="full takes a GPU, small two cores.")] = Size.full,
    seeds: options.Seeds = "0",
    device: options.Device = "cpu",
    select: Annotated[
        bool,
        typer.Option(
            "--select", help="Outliers made of training images alone, and clusters left out of them."
        ),
    ] = False,
    leave: Annotated[
        bool,
        typer.Option(
            "--leave",
            help="Only make what records are made from; without this, the same command makes records of it.",
        ),
    ] = False,
    output: options.Output = None,
    cache: options.Cache = None,
    rescore: options.Rescore = False,
    table: Annotated[bool, typer.Option("--table", help="Only print the tables from the records.")] = False,
) -> None:
    """Compare four densities: how likely they find pictures set aside, and what they find unlike them."""
    from rich.console import Console

    from benchmarks.densities.candidates import CANDIDATES
    from benchmarks.densities.runs import NO_MODEL, called
    from benchmarks.densities.table import ablation, comparison, terminal
    from benchmarks.densities.tasks import density_tasks, group_of
    from benchmarks.panel.sets import expand
    from benchmarks.runner import measure
    from benchmarks.seeds import parse_seeds
    from dissensus.detector.settings import find_device
    from dissensus.errors import SettingsError

    names = only or [*CANDIDATES, NO_MODEL]
    for name in names:
        if name not in (*CANDIDATES, NO_MODEL):
            known = ", ".join((*CANDIDATES, NO_MODEL))
            raise SettingsError(f"there is no density {name!r}; choose one of {known}")
    if only and NO_MODEL in only and not leave:
        raise SettingsError(f"{NO_MODEL} has no records of its own: add --leave")
    chosen = expand(inliers or [f"{name}-clusters-45" if select else name for name in PAIRS])
    if not select and (left_out := [each.name for each in chosen if each.left_out]):
        raise SettingsError(f"{left_out[0]} is to choose by: add --select")
    records, console = options.open_records("densities", output, quick=False), Console(highlight=False)
    failures: list[str] = []
    if not table:
        tasks = density_tasks(
            chosen,
            [name for name in names if name != NO_MODEL] or CANDIDATES,
            size,
            "selection" if select else "test",
            parse_seeds(seeds),
        )
        failures = measure(
            records,
            tasks,
            cache=(cache or CACHE) / "densities",
            device=find_device(device),
            console=Console(stderr=True, highlight=False),
            anew=rescore,
            leave=(lambda run: called(run) in names) if leave else None,
        )
    for each in () if leave else chosen:
        found = records.read(group_of(each.name, size))
        console.print(f"{each.name}, {size}", style="bold")
        for made in (comparison(each, found), ablation(each, found)):
            if len(made) > 1:
                console.print(terminal(made))
    options.end(failures, console)
