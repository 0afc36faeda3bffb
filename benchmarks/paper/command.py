"""The command ``python -m benchmarks paper``: arguments in, calls out."""

from __future__ import annotations

from typing import Annotated

import typer

from benchmarks import options
from benchmarks.places import CACHE
from benchmarks.seeds import parse_seeds

__all__ = ["paper"]


def paper(
    benchmark: Annotated[
        list[str] | None, typer.Option(help="A benchmark or group; may be repeated. Default: all of table 1.")
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(help="A method; may be repeated. Default: all six.")
    ] = None,
    preset: Annotated[
        list[str] | None,
        typer.Option(help="A preset; may be repeated. Default: both that all benchmarks have."),
    ] = None,
    seeds: options.Seeds = "0",
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of everything, kept apart.")] = False,
    device: options.Device = "auto",
    output: options.Output = None,
    cache: options.Cache = None,
    rescore: options.Rescore = False,
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Simple baselines on the same images instead, without a GPU.")
    ] = False,
    latent: Annotated[bool, typer.Option("--latent", help="The latent-space benchmark instead.")] = False,
    select: Annotated[
        bool, typer.Option("--select", help="Compare settings by validation images alone instead.")
    ] = False,
    clusters: Annotated[
        bool,
        typer.Option(
            "--clusters", help="Choose settings for held-out classes on clusters of training images instead."
        ),
    ] = False,
    ratio: Annotated[
        bool, typer.Option("--ratio", help="Ask why the likelihood ratio is below the paper's instead.")
    ] = False,
    vary: options.Vary = None,
    table: options.Table = False,
    form: options.Show = options.Form.terminal,
    figures: options.Figures = False,
) -> None:
    """Measure the paper's table 1 (resumable), and show it beside the paper's numbers."""
    from rich.console import Console

    console, numbers = Console(), parse_seeds(seeds)
    if vary and not select:
        raise typer.BadParameter("--vary is for --select")
    if select + latent + baselines + clusters + ratio > 1:
        raise typer.BadParameter(
            "--select, --latent, --baselines, --clusters and --ratio are measurements of their own: "
            "ask for one"
        )
    records = options.open_records("paper", output, quick=quick)

    from benchmarks.paper import cluster_selection
    from benchmarks.paper import ratio as ratios
    from benchmarks.paper.baselines import measure_paper
    from benchmarks.paper.benchmarks import expand
    from benchmarks.paper.latent import latent_tasks
    from benchmarks.paper.methods import find_methods
    from benchmarks.paper.presets import find_preset, measured_everywhere
    from benchmarks.paper.published import COMPARED_WITH
    from benchmarks.paper.table import (
        LATENT_NOTE,
        NOTE,
        SELECTION_NOTE,
        latent_grids,
        selection_grids,
        table_grids,
    )
    from benchmarks.paper.tasks import paper_tasks, selection_tasks
    from benchmarks.runner import measure
    from dissensus.detector.settings import find_device

    presets = [find_preset(name).name for name in preset or measured_everywhere()]
    benchmarks, methods = expand(benchmark or []), find_methods(method or [])
    failures: list[str] = []
    if baselines and not (table or figures):
        measure_paper(records, benchmarks, numbers, console=console)
    elif not (table or figures):
        if select:
            tasks = selection_tasks(benchmarks, presets, vary or [], numbers, quick=quick)
        elif latent:
            tasks = latent_tasks(presets, numbers, quick=quick)
        elif clusters:
            tasks = cluster_selection.cluster_tasks(numbers, quick=quick)
        elif ratio:
            tasks = ratios.ratio_tasks(expand(benchmark or ratios.ASKED), numbers, quick=quick)
        else:
            tasks = paper_tasks(benchmarks, methods, presets, numbers, quick=quick)
        where = (cache or CACHE) / "paper"
        failures = measure(
            records, tasks, cache=where, device=find_device(device), console=console, anew=rescore
        )
    if figures:
        from benchmarks.paper.figures import draw_all

        for path in draw_all(records):
            console.print(path)
        return
    if select:
        grids, note, file = selection_grids(records), SELECTION_NOTE, "selection.md"
    elif latent:
        grids, note, file = latent_grids(records), LATENT_NOTE, "latent.md"
    elif clusters:
        grids, note = cluster_selection.cluster_grids(records), cluster_selection.NOTE
        file = "selection-clusters.md"
    elif ratio:
        grids, note, file = ratios.ratio_grids(records), ratios.NOTE, "likelihood-ratio.md"
    else:
        grids, note, file = table_grids(records), f"{NOTE} {COMPARED_WITH}", "table1.md"
    options.show_tables(grids, note, records, console, form=form, file=file)
    options.end(failures, console)
