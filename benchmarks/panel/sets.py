"""What is in-distribution, and what is to be told from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from dissensus.errors import SettingsError
from dissensus.inputs import MADE_UP

__all__ = ["GROUPS", "INLIER_SETS", "WHOLE_SETS", "InlierSet", "Kind", "expand", "kind_of"]

Kind: TypeAlias = Literal["far", "near", "made-up"]
"""``far``: other datasets, noise and constants, and inverted grey images; ``near``: classes that were held
out; ``made-up``: all other made-up outliers, some of which are hardly any (house numbers upside down)."""

GREY = ("fashion-mnist", "mnist", "kmnist", "digits")
COLOUR = ("svhn", "cifar10")
CONTENTLESS = ("uniform-noise", "gaussian-noise", "constant")


@dataclass(frozen=True)
class InlierSet:
    """A dataset to learn, or some of its classes."""

    name: str
    dataset: str
    training_images: int
    """How many there are before any are set aside; to foretell how long a run takes."""
    held_out: tuple[int, ...] = ()
    """Classes that are never trained on and are the only outliers; empty where all classes are learnt."""

    @property
    def colour(self) -> bool:
        """Whether images are (32, 32, 3) and not (28, 28)."""
        return self.dataset in COLOUR

    @property
    def shape(self) -> tuple[int, int, int]:
        """(C, H, W)."""
        return (3, 32, 32) if self.colour else (1, 28, 28)

    @property
    def other_datasets(self) -> tuple[str, ...]:
        """Those of the same shape."""
        if self.held_out:
            return ()
        return tuple(name for name in (COLOUR if self.colour else GREY) if name != self.dataset)

    @property
    def made_up(self) -> tuple[str, ...]:
        """Kinds of made-up outliers."""
        return () if self.held_out else tuple(MADE_UP)

    @property
    def outliers(self) -> tuple[str, ...]:
        """The names of everything to be told from it."""
        if self.held_out:
            return (f"classes-{''.join(map(str, self.held_out))}",)
        return (*self.other_datasets, *self.made_up)


def kind_of(inliers: InlierSet, outliers: str) -> Kind:
    """How far off such outliers are.

    >>> kind_of(INLIER_SETS["mnist"], "inverted"), kind_of(INLIER_SETS["svhn"], "inverted")
    ('far', 'made-up')
    """
    if inliers.held_out:
        return "near"
    far = (*inliers.other_datasets, *CONTENTLESS, *(() if inliers.colour else ("inverted",)))
    return "far" if outliers in far else "made-up"


def _held_out(first: int, second: int) -> InlierSet:
    name = f"fashion-mnist-heldout-{first}{second}"
    return InlierSet(name, "fashion-mnist", 48_000, held_out=(first, second))


INLIER_SETS: Mapping[str, InlierSet] = MappingProxyType(
    {
        each.name: each
        for each in (
            InlierSet("fashion-mnist", "fashion-mnist", 60_000),
            InlierSet("mnist", "mnist", 60_000),
            InlierSet("svhn", "svhn", 73_257),
            InlierSet("cifar10", "cifar10", 50_000),
            *(_held_out(first, first + 1) for first in range(0, 10, 2)),
        )
    }
)
"""Every in-distribution set by name."""

GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"fashion-mnist-heldout": tuple(name for name, each in INLIER_SETS.items() if each.held_out)}
)
"""Sets that are named together, and shown as their mean."""

WHOLE_SETS = tuple(name for name, each in INLIER_SETS.items() if not each.held_out)
"""Whole datasets."""


def expand(names: Sequence[str]) -> list[InlierSet]:
    """The sets of these names, groups replaced by their members; all of them where none is named.

    >>> [each.name for each in expand(["svhn"])], len(expand(["fashion-mnist-heldout"])), len(expand([]))
    (['svhn'], 5, 9)
    """
    known = (*INLIER_SETS, *GROUPS)
    for name in names:
        if name not in known:
            raise SettingsError(f"there is no in-distribution set {name!r}; choose one of {', '.join(known)}")
    members = [member for name in names for member in GROUPS.get(name, (name,))] or list(INLIER_SETS)
    return [INLIER_SETS[name] for name in dict.fromkeys(members)]
