"""The command ``python -m benchmarks all``: arguments in, calls out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["make_all"]


def make_all(
    gpu: Annotated[bool, typer.Option("--gpu", help="What is measured on a GPU.")] = False,
    cpu: Annotated[bool, typer.Option("--cpu", help="What is measured on two CPU cores.")] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Measure nothing: the order, commands and minutes.")
    ] = False,
    part: Annotated[
        list[int] | None, typer.Option(help="Only this part, by its number in the plan; may be repeated.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="Where all records go. Default: results. In an empty folder nothing is skipped."),
    ] = None,
) -> None:
    """Make the final records, part by part; what is measured with the same settings is skipped.

    A part that fails does not keep the others from running; the exit code is 3 then.
    """
    import shlex
    import subprocess
    import time

    from rich.console import Console

    from benchmarks.everything.parts import PARTS
    from benchmarks.everything.plan import plan_lines
    from benchmarks.places import RESULTS, ROOT
    from dissensus.cli.failures import INTERRUPTED, WORK_FAILED

    if gpu is cpu:
        raise typer.BadParameter("ask for --gpu or for --cpu: the two are measured on different machines")
    parts = PARTS["gpu" if gpu else "cpu"]
    console, log = Console(highlight=False), Console(stderr=True, highlight=False)
    if plan:
        for line in plan_lines(parts, output or RESULTS):
            console.print(line, markup=False, soft_wrap=True)
        return
    numbers = part or list(range(1, len(parts) + 1))
    if wrong := [number for number in numbers if not 1 <= number <= len(parts)]:
        raise typer.BadParameter(f"there is no part {wrong[0]}: --plan shows parts 1 to {len(parts)}")
    failed = []
    for number in numbers:
        call = shlex.split(parts[number - 1].call)
        if output is not None:
            call += ["--output", str((output / call[0]).resolve())]
        log.print(f"part {number}: python -m benchmarks {shlex.join(call)}", markup=False, soft_wrap=True)
        started = time.perf_counter()
        code = subprocess.run([sys.executable, "-m", "benchmarks", *call], cwd=ROOT, check=False).returncode
        if code == INTERRUPTED:
            raise typer.Exit(INTERRUPTED)
        ended = f"failed with exit code {code}" if code else "done"
        log.print(f"part {number}: {ended} after {(time.perf_counter() - started) / 60:.1f} min")
        failed += [number] if code else []
    if failed:
        again = " ".join(f"--part {number}" for number in failed)
        log.print(f"{len(failed)} of {len(numbers)} parts failed; once more: {again}", style="red")
        raise typer.Exit(WORK_FAILED)
