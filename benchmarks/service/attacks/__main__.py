"""``python -m benchmarks.service.attacks NAME PORT``: one attack on a service of this machine."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Annotated

import typer

from benchmarks.service.attacks import ATTACKS, Target
from dissensus.errors import SettingsError

MOST_SECONDS = 120.0


def main(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(ATTACKS)}.")],
    port: Annotated[int, typer.Argument(min=1, max=65535, help="Of a service at 127.0.0.1.")],
    seconds: Annotated[float, typer.Option(min=0.1, max=MOST_SECONDS)] = 20.0,
    scale: Annotated[float, typer.Option(min=0.001, max=1.0, help="Of clients and bytes.")] = 1.0,
) -> None:
    """Attack a service that you have started for it."""
    if name not in ATTACKS:
        raise SettingsError(f"there is no attack {name!r}: choose one of {', '.join(ATTACKS)}")
    with suppress(ImportError):  # each connection takes a file on this side, too
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    asyncio.run(ATTACKS[name].run(Target(port, time.monotonic() + seconds, scale)))


if __name__ == "__main__":
    typer.run(main)
