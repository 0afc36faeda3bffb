"""The command ``python -m benchmarks panel``: arguments in, calls out."""

from __future__ import annotations

from typing import Annotated

import typer

from benchmarks import options
from benchmarks.places import CACHE
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
    seeds: options.Seeds = "0",
    quick: Annotated[
        bool, typer.Option("--quick", help="A twentieth of the images, kept apart: not a result.")
    ] = False,
    device: options.Device = "auto",
    output: options.Output = None,
    cache: options.Cache = None,
    regret: Annotated[
        int, typer.Option(min=0, help="Images of each set whose likelihood regret is found too: slow.")
    ] = 0,
    rescore: options.Rescore = False,
    select: Annotated[
        bool,
        typer.Option("--select", help="Compare candidates by made-up outliers of validation images instead."),
    ] = False,
    vary: options.Vary = None,
    ablate: Annotated[
        bool, typer.Option("--ablate", help="Change one thing at a time in the recommended detector instead.")
    ] = False,
    baselines: Annotated[
        bool,
        typer.Option(
            "--baselines",
            help="Measure simple baselines on the same images instead, without a GPU; with --select, compare "
            "their settings.",
        ),
    ] = False,
    table: options.Table = False,
    form: options.Show = options.Form.terminal,
    figures: options.Figures = False,
) -> None:
    """Measure posteriors and scores against all kinds of outliers (resumable), and show the tables."""
    from rich.console import Console

    console, numbers = Console(), parse_seeds(seeds)
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
    records = options.open_records("panel", output, quick=quick)

    from benchmarks.panel.ablation import ablation_grids, ablation_tasks
    from benchmarks.panel.baselines import RULE as BASELINE_RULE
    from benchmarks.panel.baselines import candidate_grids, measure_panel, select_candidates
    from benchmarks.panel.configuration import find_posteriors
    from benchmarks.panel.sets import WHOLE_SETS, expand
    from benchmarks.panel.table import NOTE, RULE, panel_grids, selection_grids
    from benchmarks.panel.tasks import all_rows, panel_tasks, selection_tasks
    from benchmarks.runner import measure
    from dissensus.detector.settings import find_device

    sets = expand(inliers or (WHOLE_SETS if select else []))
    posteriors = find_posteriors(posterior or [])
    failures: list[str] = []
    if baselines and not (table or figures):
        (select_candidates if select else measure_panel)(records, sets, numbers, console=console)
    elif not (table or figures):
        if select:
            tasks = selection_tasks(sets, posteriors, vary or [], numbers, quick=quick)
        elif ablate:
            tasks = ablation_tasks(sets, numbers, quick=quick)
        else:
            tasks = panel_tasks(sets, posteriors, numbers, quick=quick, regret=regret)
        where = (cache or CACHE) / "panel"
        failures = measure(
            records, tasks, cache=where, device=find_device(device), console=console, anew=rescore
        )
    if figures:
        from benchmarks.panel.figures import draw_all

        for path in draw_all(records):
            console.print(path)
        return
    if select and baselines:
        grids, note, file = candidate_grids(records), f"The rule: {BASELINE_RULE}.", "baseline-selection.md"
    elif select:
        one_file = "Here inliers are of the training file too, so that nothing is shifted."
        grids, note, file = selection_grids(records), f"{NOTE} {one_file} The rule: {RULE}.", "selection.md"
    elif ablate:
        grids, note, file = ablation_grids(records), NOTE, "ablation.md"
    else:
        grids, note, file = panel_grids(list(all_rows(records)), quick=quick), NOTE, "panel.md"
    options.show_tables(grids, note, records, console, form=form, file=file)
    options.end(failures, console)
