"""The command ``python -m benchmarks panel``: arguments in, calls out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks.seeds import parse_seeds

__all__ = ["panel"]


def panel(
    inliers: Annotated[
        list[str] | None,
        typer.Option(help="An in-distribution set or group; may be repeated. Default: all of the panel."),
    ] = None,
    posterior: Annotated[
        list[str] | None, typer.Option(help="A posterior; may be repeated. Default: all.")
    ] = None,
    seeds: Annotated[str, typer.Option(help="Seeds, separated by commas.")] = "0",
    quick: Annotated[
        bool, typer.Option("--quick", help="A twentieth of the images, kept apart: not a result.")
    ] = False,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    output: Annotated[
        Path | None, typer.Option(help="Where records go. Default: results/panel, or results/panel-quick.")
    ] = None,
    regret: Annotated[
        int, typer.Option(min=0, help="Images of each set whose likelihood regret is found too: slow.")
    ] = 0,
    rescore: Annotated[
        bool, typer.Option("--rescore", help="Make the records anew from the matrices that are cached.")
    ] = False,
    select: Annotated[
        bool,
        typer.Option("--select", help="Compare candidates by made-up outliers of validation images instead."),
    ] = False,
    vary: Annotated[
        list[str] | None,
        typer.Option(help="With --select: settings to compare, as in chains=2,4; may be repeated."),
    ] = None,
    ablate: Annotated[
        bool, typer.Option("--ablate", help="Change one thing at a time in the recommended detector instead.")
    ] = False,
    baselines: Annotated[
        bool,
        typer.Option(
            "--baselines",
            help="Measure simple baselines on the same images instead, on the CPU; with --select, compare "
            "their settings.",
        ),
    ] = False,
    table: Annotated[bool, typer.Option("--table", help="Only print the tables from the records.")] = False,
    figures: Annotated[
        bool, typer.Option("--figures", help="Only draw the figures from the records.")
    ] = False,
) -> None:
    """Measure posteriors and scores against all kinds of outliers (resumable), and show the tables."""
    from rich.console import Console

    from benchmarks.places import RESULTS
    from dissensus.destination import check_folder
    from dissensus.errors import DissensusError, SettingsError

    console = Console()
    where = output or RESULTS / ("panel-quick" if quick else "panel")
    numbers = parse_seeds(seeds)
    if vary and not select:
        raise typer.BadParameter("--vary is for --select")
    if regret and (select or ablate):
        raise typer.BadParameter("--regret is for the panel itself")
    if ablate and (select or baselines):
        raise typer.BadParameter("--ablate is a measurement of its own: leave --select and --baselines out")
    if baselines and (posterior or regret or rescore or vary):
        raise typer.BadParameter(
            "--baselines have no posterior: leave --posterior, --regret, --rescore and --vary out"
        )
    try:
        check_folder(where)
        from benchmarks.panel.ablation import ablation_tasks, show_ablation
        from benchmarks.panel.configuration import find_posteriors
        from benchmarks.panel.runner import measure, panel_sizes, panel_tasks, unmeasured
        from benchmarks.panel.selection import selection_tasks, show_selection
        from benchmarks.panel.sets import WHOLE_SETS, expand
        from benchmarks.panel.table import show_panel
        from dissensus.detector.settings import find_device

        show = show_selection if select else show_ablation if ablate else show_panel
        sets = expand(inliers or (WHOLE_SETS if select else []))
        posteriors = find_posteriors(posterior or [])
        if table or figures:
            if table:
                show(where, console, quick=quick)
            if figures:
                from benchmarks.panel.figures import draw_all

                for path in draw_all(where, quick=quick):
                    console.print(path)
            return
        sizes = panel_sizes(quick=quick)
        if baselines:
            from benchmarks.panel.baselines import measure_panel, select_candidates
            from benchmarks.records import Records

            records = Records(where, quick=quick)
            if select:
                select_candidates(records, sets, numbers, sizes=sizes, console=console)
                return
            measure_panel(records, sets, numbers, sizes=sizes, console=console)
            show(where, console, quick=quick)
            return
        if select:
            tasks = selection_tasks(sets, posteriors, vary or [], numbers, sizes=sizes, quick=quick)
        elif ablate:
            tasks = ablation_tasks(sets, numbers, sizes=sizes, quick=quick)
        else:
            tasks = panel_tasks(sets, posteriors, numbers, sizes=sizes, quick=quick, regret=regret)
        missing = unmeasured(where, tasks, quick=quick)
        failures = measure(
            where, tasks if rescore else missing, quick=quick, device=find_device(device), console=console
        )
        show(where, console, quick=quick)
    except DissensusError as error:
        Console(stderr=True).print(error, markup=False, highlight=False)
        raise typer.Exit(2 if isinstance(error, SettingsError) else 3) from error
    for failure in failures:
        console.print(f"[red]not measured:[/red] {failure}", highlight=False)
    if failures:
        raise typer.Exit(3)
