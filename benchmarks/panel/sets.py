"""What is in-distribution, and what is to be told from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from benchmarks.clusters import CLUSTERS, PAIRS
from dissensus.errors import SettingsError
from dissensus.inputs import MADE_UP

__all__ = [
    "CLUSTER_SETS",
    "EVERY_SET",
    "GROUPS",
    "INLIER_SETS",
    "WHOLE_SETS",
    "InlierSet",
    "Kind",
    "expand",
    "kind_of",
]

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
    left_out: tuple[int, ...] = ()
    """Clusters of training images that are not trained on, to choose by: outliers beside the made-up ones."""

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
        if self.held_out or self.left_out:
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
        if self.left_out:
            return (self.clusters, *self.made_up)
        return (*self.other_datasets, *self.made_up)

    @property
    def clusters(self) -> str:
        """What those that are left out are called."""
        return f"clusters-{''.join(map(str, self.left_out))}"


def kind_of(inliers: InlierSet, outliers: str) -> Kind:
    """How far off such outliers are.

    >>> kind_of(INLIER_SETS["mnist"], "inverted"), kind_of(INLIER_SETS["svhn"], "inverted")
    ('far', 'made-up')
    """
    if inliers.held_out or outliers == inliers.clusters:
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


def _clusters(dataset: str, *pair: int) -> InlierSet:
    whole = INLIER_SETS[dataset]
    name = f"{dataset}-clusters-{''.join(map(str, pair))}"
    return InlierSet(name, dataset, whole.training_images * (CLUSTERS - 2) // CLUSTERS, left_out=pair)


CLUSTER_SETS: Mapping[str, InlierSet] = MappingProxyType(
    {
        each.name: each
        for each in (
            *(_clusters("fashion-mnist", *pair) for pair in PAIRS),
            *(_clusters(dataset, *PAIRS[1]) for dataset in ("mnist", "svhn", "cifar10")),
        )
    }
)
"""Datasets without two clusters of their training images. Nothing else is read of them: to choose by."""

GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "fashion-mnist-heldout": tuple(name for name, each in INLIER_SETS.items() if each.held_out),
        "clusters": tuple(CLUSTER_SETS),
    }
)
"""Sets that are named together, and shown as their mean."""

EVERY_SET: Mapping[str, InlierSet] = MappingProxyType({**INLIER_SETS, **CLUSTER_SETS})
"""Those of the panel, and those to choose by."""

WHOLE_SETS = tuple(name for name, each in INLIER_SETS.items() if not each.held_out)
"""Whole datasets."""


def expand(names: Sequence[str]) -> list[InlierSet]:
    """The sets of these names, groups replaced by their members; all of them where none is named.

    >>> [each.name for each in expand(["svhn"])], len(expand(["fashion-mnist-heldout"])), len(expand([]))
    (['svhn'], 5, 9)
    """
    known = (*INLIER_SETS, *CLUSTER_SETS, *GROUPS)
    for name in names:
        if name not in known:
            raise SettingsError(f"there is no in-distribution set {name!r}; choose one of {', '.join(known)}")
    members = [member for name in names for member in GROUPS.get(name, (name,))] or list(INLIER_SETS)
    return [EVERY_SET[name] for name in dict.fromkeys(members)]
