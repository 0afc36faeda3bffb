"""Seeds as they are typed."""

from __future__ import annotations

import typer

__all__ = ["parse_seeds"]


def parse_seeds(text: str) -> list[int]:
    """Whole numbers separated by commas.

    >>> parse_seeds("0,1,2")
    [0, 1, 2]
    """
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"--seeds takes whole numbers separated by commas, not {text!r}") from None
