"""The command ``python -m benchmarks fill``: arguments in, calls out."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["fill_in"]


def fill_in(
    check: Annotated[
        bool,
        typer.Option("--check", help="Change nothing; exit code 1 where a page and the records differ."),
    ] = False,
    list_names: Annotated[
        bool,
        typer.Option("--list", help="Only print all names, and the values of the numbers."),
    ] = False,
) -> None:
    """Fill the README's and the documents' numbers and tables in from the records."""
    from rich.console import Console

    from benchmarks.filling.pages import fill_page, pages
    from benchmarks.filling.registry import find_number, names
    from benchmarks.places import RESULTS, ROOT

    console = Console(highlight=False)
    if list_names:
        for name in names("NUMBERS"):
            console.print(f"{name}  {find_number(name, RESULTS):.6g}", markup=False, soft_wrap=True)
        for name in names("TABLES"):
            console.print(f"{name}  (a table)", markup=False, soft_wrap=True)
        return
    wrong = [what for page in pages(ROOT) for what in fill_page(page, RESULTS, write=not check)]
    for what in wrong:
        console.print(what, markup=False, soft_wrap=True)
    if check and wrong:
        raise typer.Exit(1)
