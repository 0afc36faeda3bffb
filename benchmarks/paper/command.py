"""The command ``python -m benchmarks paper``: arguments in, calls out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
        list[str] | None, typer.Option(help="as-published or converged; may be repeated. Default: both.")
    ] = None,
    seeds: Annotated[str, typer.Option(help="Seeds, separated by commas.")] = "0",
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of everything, kept apart.")] = False,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    output: Annotated[
        Path | None, typer.Option(help="Where records go. Default: results/paper, or results/paper-quick.")
    ] = None,
    latent: Annotated[bool, typer.Option("--latent", help="The latent-space benchmark instead.")] = False,
    baselines: Annotated[
        bool,
        typer.Option("--baselines", help="Simple baselines on the same images instead, on the CPU."),
    ] = False,
    select: Annotated[
        list[str] | None,
        typer.Option(
            help="Compare settings without outliers instead, as in step_size=0.003,0.01; may be repeated."
        ),
    ] = None,
    table: Annotated[
        int | None,
        typer.Option(
            help="Only print this table of the paper (it has 1) from the records: terminal, Markdown, LaTeX.",
            min=1,
            max=1,
            metavar="1",
        ),
    ] = None,
    figures: Annotated[
        bool, typer.Option("--figures", help="Only draw the figures from the records.")
    ] = False,
) -> None:
    """Measure the paper's table 1 (resumable), and show it beside the paper's numbers."""
    from rich.console import Console

    from benchmarks.places import RESULTS
    from dissensus.destination import check_folder
    from dissensus.errors import DissensusError, SettingsError

    console = Console()
    where = output or RESULTS / ("paper-quick" if quick else "paper")
    numbers = parse_seeds(seeds)
    try:
        check_folder(where)
        from benchmarks.paper.benchmarks import expand
        from benchmarks.paper.methods import find_methods
        from benchmarks.paper.presets import PRESETS, find_preset
        from benchmarks.paper.runner import measure, plan
        from benchmarks.paper.show import show_table
        from dissensus.detector.settings import find_device

        presets = [find_preset(name).name for name in preset or PRESETS]
        benchmarks, methods = expand(benchmark or []), find_methods(method or [])
        if table or figures:
            if table:
                show_table(where, console, quick=quick, documents=True)
            if figures:
                from benchmarks.paper.figures import draw_all

                for path in draw_all(where, quick=quick):
                    console.print(path)
            return
        if baselines:
            from benchmarks.paper.baselines import measure_paper
            from benchmarks.records import Records

            measure_paper(Records(where, quick=quick), benchmarks, numbers, console=console)
            return
        where_to_run = find_device(device)
        if select:
            from benchmarks.paper.selection import select_settings

            select_settings(
                where, benchmarks, presets, select, numbers, quick=quick, device=where_to_run, console=console
            )
            return
        if latent:
            from benchmarks.paper.latent import measure_latent

            for name in presets:
                for seed in numbers:
                    measure_latent(where, name, seed, quick=quick, device=where_to_run, console=console)
            return
        tasks = plan(where, benchmarks, methods, presets, numbers, quick=quick)
        failures = measure(where, tasks, quick=quick, device=where_to_run, console=console)
        show_table(where, console, quick=quick)
    except DissensusError as error:
        Console(stderr=True).print(error, markup=False, highlight=False)
        raise typer.Exit(2 if isinstance(error, SettingsError) else 3) from error
    for failure in failures:
        console.print(f"[red]not measured:[/red] {failure}", highlight=False)
    if failures:
        raise typer.Exit(3)
