"""What is searched: strings of which some mean something, and how it is found out which."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["LANGUAGES", "Language"]


@dataclass(frozen=True)
class Language:
    """Texts, how they are divided into symbols, and a judge that the model never hears of."""

    name: str
    by: str
    """A name from ``dissensus.inputs.DIVISIONS``."""
    read: Callable[[Path | None], Sequence[str]]
    """All texts, from a folder or file, or from where they usually are."""
    valid: Callable[[str], bool]
    training: int
    """How many texts a gate is fitted on."""
    latent_size: int
    hidden: int
    epochs: int
    batch_size: int
    distance: Callable[[str], float] | None = None
    """What a search makes small; None: there is no search."""


def _expressions() -> Language:
    from benchmarks.latent.expressions import distance, is_expression, read_expressions

    return Language(
        "expressions", "words", read_expressions, is_expression, 15_000, 16, 128, 18, 128, distance
    )


def _molecules() -> Language:
    from benchmarks.latent.molecules import is_molecule, read_molecules

    return Language("molecules", "smiles", read_molecules, is_molecule, 100_000, 64, 256, 36, 512)


LANGUAGES: Mapping[str, Callable[[], Language]] = {"expressions": _expressions, "molecules": _molecules}
"""By name; what a language takes beside the project is imported when it is asked for."""
