"""The command ``python -m benchmarks gallery``: arguments in, calls out."""

from __future__ import annotations

from typing import Annotated

import typer

from benchmarks.options import Output

__all__ = ["gallery"]


def gallery(
    only: Annotated[
        list[str] | None, typer.Option(help="The name of an example, such as table; may be repeated.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A rehearsal of seconds, kept apart.")] = False,
    output: Output = None,
    again: Annotated[bool, typer.Option("--again", help="Run even what has a record already.")] = False,
) -> None:
    """Run the examples, and record what they print and draw, for the site's gallery.

    An example that was recorded from the same source is not run again. One of them takes BoTorch.
    """
    from rich.console import Console

    from benchmarks.gallery.pieces import EXAMPLES, gallery_pieces
    from benchmarks.options import open_records
    from benchmarks.pieces import measure_missing

    known = {path.stem for path in EXAMPLES.glob("*.py")}
    if unknown := set(only or ()) - known:
        raise typer.BadParameter(f"--only {min(unknown)}: choose of {', '.join(sorted(known))}")
    records = open_records("gallery", output, quick=quick)
    pieces = gallery_pieces(records.folder, only, quick=quick)
    measure_missing(records, pieces, Console(stderr=True, highlight=False), again=again)
