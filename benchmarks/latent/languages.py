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
    chains: int
    """Of those that share an encoder; each runs two thirds of the epochs."""
    kl_weight: float
    forgetting: float
    """Of :class:`~dissensus.models.Sequences`."""
    distance: Callable[[str], float] | None = None
    """What a search makes small; None: there is no search."""


def _expressions() -> Language:
    from benchmarks.latent.expressions import distance, is_expression, read_expressions

    return Language(
        name="expressions",
        by="words",
        read=read_expressions,
        valid=is_expression,
        training=15_000,
        latent_size=16,
        hidden=128,
        epochs=18,
        batch_size=128,
        chains=8,
        kl_weight=0.05,
        forgetting=0.3,
        distance=distance,
    )


def _molecules() -> Language:
    from benchmarks.latent.molecules import is_molecule, read_molecules

    return Language(
        name="molecules",
        by="smiles",
        read=read_molecules,
        valid=is_molecule,
        training=100_000,
        latent_size=64,
        hidden=512,
        epochs=21,
        batch_size=512,
        chains=4,
        kl_weight=0.2,
        forgetting=0.2,
    )


LANGUAGES: Mapping[str, Callable[[], Language]] = {"expressions": _expressions, "molecules": _molecules}
"""By name; what a language takes beside the project is imported when it is asked for."""
