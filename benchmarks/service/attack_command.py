"""The command ``python -m benchmarks attacks``: arguments in, calls out."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmarks.places import RESULTS, ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.pieces import Found, Piece
    from benchmarks.service.defence import Plan

__all__ = ["AFTER", "ALL", "BEFORE", "NONE", "attacks"]

AFTER, BEFORE = "attacks", "attacks-before"
"""Groups of records: of the service as it is, and of one that it is compared with."""
NONE, ALL = "none", "all"
EARLIER = "fitted by that version with its defaults, on the embedded sample"


def attacks(
    gate: Annotated[
        Path | None,
        typer.Option(help="A gate that the measured version saved. Default: fit one, in minutes."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="An attack, `none` or `all` together; repeat.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, max=60, help="Of each attack.")] = 12.0,
    scale: Annotated[float, typer.Option(min=0.001, max=1, help="Of the clients and bytes.")] = 1.0,
    before: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="The src folder of an earlier version: measure that, to compare."
        ),
    ] = None,
    output: Annotated[Path, typer.Option(help="Where the records go.")] = RESULTS / "service",
    table: Annotated[bool, typer.Option("--table", help="Measure nothing: show the records.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Measure even what has a record already.")] = False,
) -> None:
    """Attack a service on this machine for a short time, and measure what honest clients see of it."""
    from rich.console import Console

    from benchmarks.pieces import measure_missing
    from benchmarks.records import Records
    from benchmarks.service.attack_table import attack_table
    from benchmarks.service.attacks import ATTACKS
    from benchmarks.service.defence import Plan
    from dissensus.destination import check_folder
    from dissensus.errors import SettingsError

    known = [NONE, *ATTACKS, ALL]
    unknown = set(only or ()) - set(known)
    if unknown:
        raise SettingsError(f"there is no attack {min(unknown)!r}: choose of {', '.join(known)}")
    check_folder(output)
    records = Records(output)
    if not table:
        plan = Plan(seconds=seconds, scale=scale)
        with tempfile.TemporaryDirectory() as folder:
            attacked = Attacked(gate, Path(folder) / "gate")
            pieces = [_piece(name, attacked, plan, before) for name in known if not only or name in only]
            measure_missing(records, pieces, Console(stderr=True, highlight=False), again=again)
    Console(highlight=False).print(attack_table(output), markup=False, soft_wrap=True)


class Attacked:
    """The gate whose service is attacked: one that was given, or one that is fitted once for all attacks."""

    def __init__(self, given: Path | None, folder: Path) -> None:
        self._given, self._folder = given, folder

    def path(self, say: Callable[[str], None]) -> Path:
        """Where it is saved."""
        from benchmarks.service.gate import served_gate

        if self._given is not None:
            return self._given
        if not self._folder.exists():
            served_gate(None, say=say).save(self._folder)
        return self._folder


def _piece(name: str, attacked: Attacked, plan: Plan, before: Path | None) -> Piece:
    from dataclasses import asdict

    import torch

    from benchmarks.devices import hardware
    from benchmarks.pieces import Piece
    from benchmarks.service.attacks import ATTACKS
    from benchmarks.service.gate import HOW

    settings = {
        **asdict(plan),
        "service": "this one" if before is None else _commit_of(before),
        "attacks": list(ATTACKS) if name == ALL else [] if name == NONE else [name],
        "gate": HOW if before is None else EARLIER,
        "hardware": hardware(torch.device("cpu")),
    }

    def measure(say: Callable[[str], None]) -> Found:
        from benchmarks.service.defence import measure_defence
        from dissensus.inputs import load_sample

        _, test = load_sample()
        source = ROOT / "src" if before is None else before
        return measure_defence(
            attacked.path(say), test.images[:256], settings["attacks"], plan, source=source, on_stage=say
        )

    return Piece(AFTER if before is None else BEFORE, name, settings, measure)


def _commit_of(folder: Path) -> str:
    """The commit of an earlier version: where it lies on this machine is nobody's affair."""
    import subprocess

    from dissensus.errors import SettingsError

    command = ["git", "-C", str(folder), "rev-parse", "HEAD"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        raise SettingsError(
            f"{folder} is in no checkout of git: name the src folder of one (git worktree add)"
        )
    return found.stdout.strip()
