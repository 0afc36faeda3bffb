"""``dissensus demo``: the whole of it on the data that comes with the package."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dissensus.cli.console import print_bullets, print_json, results, warnings_as_messages
from dissensus.cli.failures import Interrupted
from dissensus.cli.fit import check_output, claim_output, how_to_go_on
from dissensus.cli.options import Json, Quiet, Seed
from dissensus.cli.progress import StageProgress, fit_work
from dissensus.destination import check_folder

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["demo"]


def demo(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="The folder for the report, the figure, the numbers and the gate."
        ),
    ] = Path("demo-report"),
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fit on 6,000 pictures of clothes, then tell ten kinds of outlier from them: minutes on a CPU."""
    check_folder(output)
    check_output(output / "gate")
    from dissensus.report import require_jinja, require_matplotlib

    require_jinja()
    require_matplotlib()
    from dissensus.demo import demo_detector, demo_record, run, run_demo, scoring_work, write_files

    gate = demo_detector(seed)
    work = fit_work(gate, run.TRAINING) | {"scoring": scoring_work(gate)}
    kept = output / ".gate.partial"
    with claim_output(output / "gate"):
        with StageProgress(work, quiet=quiet) as progress:
            try:
                with warnings_as_messages():
                    shown = run_demo(gate, checkpoint=kept, on_progress=progress)
            except KeyboardInterrupt:
                raise Interrupted(how_to_go_on(progress)) from None
        record = demo_record(shown)
        write_files(output, shown, record)
        shutil.rmtree(kept, ignore_errors=True)
    if json:
        print_json(record)
    elif not quiet:
        _print(record, output)


def _print(record: Mapping[str, Any], output: Path) -> None:
    from dissensus.report import describe_health, false_alarm_sentence, findings

    out = results()
    out.print(_table(record))
    out.print(
        "AUROC: 1 is perfect, 0.5 is a coin, below 0.5 the outliers look more normal than clothes.",
        style="dim",
    )
    for title, sentences in (
        ("What the numbers say", findings(record)),
        ("False alarms", [false_alarm_sentence(record)]),
        ("The sampler's health", describe_health(record["health"], record["noise_floor"])),
    ):
        out.print(f"\n[bold]{title}[/bold]")
        print_bullets(out, sentences)
    seconds = record["seconds"]
    out.print(
        f"\nDone in {sum(seconds.values()):.0f} s, {seconds['fitting']:.0f} of them fitting. Now look at:"
    )
    for name in ("report.html", "figure.png", "results.json"):
        out.print(f"  {output / name}", markup=False, soft_wrap=True)
    out.print(f"  dissensus score {output / 'gate'} DATA", markup=False, soft_wrap=True)


def _table(record: Mapping[str, Any]) -> Table:
    """AUROC by kind of outlier and score; the best of each row in bold green, what misleads in red."""
    from rich import box
    from rich.table import Table

    names = list(next(iter(record["outliers"].values()))["auroc"])
    title = "AUROC: telling outliers from unseen clothes"
    table = Table(
        title=title,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        title_style="bold",
        padding=(0, 1, 0, 0),  # all of it in 80 columns
    )
    table.add_column("outliers")
    for name in names:
        table.add_column(name, justify="right")
    table.add_column("flagged", justify="right")
    for kind, outlier in record["outliers"].items():
        values = {name: outlier["auroc"][name]["value"] for name in names}
        best = max(round(value, 2) for value in values.values())
        cells = [
            f"[bold green]{v:.2f}[/]"
            if round(v, 2) == best
            else f"[red]{v:.2f}[/]"
            if v < 0.5
            else f"{v:.2f}"
            for v in values.values()
        ]
        table.add_row(kind, *cells, f"{outlier['flagged'] / outlier['count']:.0%}")
    return table
