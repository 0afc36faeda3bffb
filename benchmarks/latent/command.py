"""The command ``python -m benchmarks latent``: arguments in, calls out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmarks.options import Device, Form, Output, Seeds, Show, Table

if TYPE_CHECKING:
    from benchmarks.pieces import Piece

__all__ = ["latent"]

PARTS = ("expressions", "expressions-search", "molecules", "acquire", "plane", "timing")
POSTERIORS = ("shared-encoder", "one-chain")


def latent(
    only: Annotated[
        list[str] | None,
        typer.Option(help=f"One of {', '.join(PARTS)}; may be repeated. Default: expressions."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Where the texts are: a file of lines for expressions, the wheel molsets for molecules."
        ),
    ] = None,
    posterior: Annotated[
        list[str] | None, typer.Option(help=f"Of texts: {' or '.join(POSTERIORS)}. Default: both.")
    ] = None,
    seeds: Seeds = "0,1,2",
    device: Device = "auto",
    quick: Annotated[bool, typer.Option("--quick", help="Little of everything, kept apart.")] = False,
    output: Output = None,
    table: Table = False,
    form: Show = Form.terminal,
    again: Annotated[bool, typer.Option("--again", help="Measure even what has a record already.")] = False,
) -> None:
    """Latent spaces: which points decode to what is valid, search with the gate, which inputs to acquire.

    The paper's own benchmark of latent points is `python -m benchmarks paper --latent`.
    """
    from rich.console import Console

    from benchmarks.latent.figure import draw_validity
    from benchmarks.latent.plane_figures import draw_plane
    from benchmarks.latent.table import LATENT_NOTE, latent_grids
    from benchmarks.options import open_records, show_tables
    from benchmarks.pieces import measure_missing
    from benchmarks.seeds import parse_seeds

    chosen = only or ["expressions"]
    if unknown := set(chosen) - set(PARTS):
        raise typer.BadParameter(f"--only {min(unknown)}: choose of {', '.join(PARTS)}")
    if unknown := set(posterior or []) - set(POSTERIORS):
        raise typer.BadParameter(f"--posterior {min(unknown)}: choose of {', '.join(POSTERIORS)}")
    records = open_records("latent", output, quick=quick)
    if not table:
        log, numbers = Console(stderr=True, highlight=False), parse_seeds(seeds)
        for name in chosen:
            pieces = _pieces(name, posterior or POSTERIORS, numbers, data, device, quick)
            measure_missing(records, pieces, log, again=again)
    show_tables(
        latent_grids(records), LATENT_NOTE, records, Console(highlight=False), form=form, file="latent.md"
    )
    for path in (*draw_validity(records), *draw_plane(records)):
        Console(stderr=True, highlight=False).print(str(path), markup=False, soft_wrap=True)


def _pieces(
    name: str, posteriors: Sequence[str], seeds: list[int], data: Path | None, device: str, quick: bool
) -> list[Piece]:
    from benchmarks.latent.pieces import (
        acquire_pieces,
        language_pieces,
        plane_pieces,
        search_pieces,
        timing_pieces,
    )

    if name == "acquire":
        return acquire_pieces(seeds, device=device, quick=quick)
    if name == "plane":
        return plane_pieces(device=device, quick=quick)
    if name == "timing":
        return timing_pieces(device=device, quick=quick)
    if name == "expressions-search":
        return search_pieces("expressions", seeds, data=data, device=device, quick=quick)
    return language_pieces(name, seeds, posteriors, data=data, device=device, quick=quick)
