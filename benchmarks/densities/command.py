"""The command ``python -m benchmarks densities``: arguments in, calls out."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from benchmarks.options import Output, Seeds

__all__ = ["densities", "group_of"]

PAIRS = ("cifar10", "svhn")


class Size(StrEnum):
    """How much there is to learn from, and how large the networks are."""

    full = "full"
    small = "small"


def group_of(inliers: str, size: str) -> str:
    """The records of an in-distribution set at a size."""
    return f"{inliers}-{size}"


def densities(
    inliers: Annotated[
        list[str] | None,
        typer.Option(help="An in-distribution set of the panel; may be repeated. Default: cifar10, svhn."),
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="A density; may be repeated. Default: all.")] = None,
    size: Annotated[Size, typer.Option(help="full takes a GPU, small two cores.")] = Size.full,
    seeds: Seeds = "0",
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    select: Annotated[
        bool,
        typer.Option(
            "--select", help="Outliers made of training images alone, and clusters left out of them."
        ),
    ] = False,
    output: Output = None,
    table: Annotated[bool, typer.Option("--table", help="Only print the tables from the records.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Measure even what has a record already.")] = False,
) -> None:
    """Compare four densities: how likely they find pictures set aside, and what they find unlike them."""
    from functools import partial

    import torch
    from rich.console import Console

    from benchmarks.densities.candidates import CANDIDATES, SIZES, setup
    from benchmarks.densities.measure import measure_density
    from benchmarks.densities.table import ablation, comparison, terminal
    from benchmarks.devices import gpu_name
    from benchmarks.options import open_records
    from benchmarks.panel.inputs import Purpose
    from benchmarks.panel.sets import expand
    from benchmarks.pieces import Piece, measure_missing
    from benchmarks.seeds import parse_seeds
    from dissensus.errors import SettingsError

    for name in only or []:
        if name not in CANDIDATES:
            raise SettingsError(f"there is no density {name!r}; choose one of {', '.join(CANDIDATES)}")
    chosen = expand(inliers or [f"{name}-clusters-45" if select else name for name in PAIRS])
    if not select and (left_out := [each.name for each in chosen if each.left_out]):
        raise SettingsError(f"{left_out[0]} is to choose by: add --select")
    records = open_records("densities", output, quick=False)
    purpose: Purpose = "selection" if select else "test"
    if not table:
        pieces = [
            Piece(
                group_of(each.name, size),
                candidate,
                own | {"purpose": purpose, "sizes": SIZES[size].described(purpose), "device": device},
                partial(measure_density, own, each.name, purpose, seed, device),
                seed,
                gpu=gpu_name(torch.device(device)),
            )
            for each in chosen
            for seed in parse_seeds(seeds)
            for candidate in only or CANDIDATES
            for own in [setup(candidate, size)]
        ]
        measure_missing(records, pieces, Console(stderr=True, highlight=False), again=again)
    console = Console(highlight=False)
    for each in chosen:
        found = records.read(group_of(each.name, size))
        console.print(f"{each.name}, {size}", style="bold")
        for made in (comparison(each, found), ablation(each, found)):
            if len(made) > 1:
                console.print(terminal(made))
