"""The benchmarks of the paper's section 5.1: what is trained on, and what is to be told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
import torch
from torch import Tensor

from dissensus.errors import DataError, SettingsError
from dissensus.inputs import hold_out_classes, load_dataset
from dissensus.models.inputs import to_tensor
from dissensus.seeding import numpy_stream

__all__ = [
    "BENCHMARKS",
    "FULL",
    "GROUPS",
    "QUICK",
    "Benchmark",
    "Inputs",
    "Purpose",
    "Sizes",
    "expand",
    "load_inputs",
    "load_training",
]


Purpose: TypeAlias = Literal["test", "selection"]
"""``selection`` reads training images alone: nothing about the outliers can find its way into a preset."""


@dataclass(frozen=True)
class Benchmark:
    """Which dataset is in-distribution, which is not, and what the methods take from the paper."""

    name: str
    title: str
    inliers: str
    outliers: str
    model: str
    """The architecture, one for all methods: a name of :data:`dissensus.models.PRESETS`."""
    background_rate: float
    """μ: the share of pixels replaced by noise for the likelihood ratio's background model."""
    training_images: int
    """How many there are to train on, before validation is cut off; to foretell how long a run takes."""
    held_out: tuple[int, ...] = ()
    """Classes that are never trained on and are the outliers; empty where they come from another dataset."""


@dataclass(frozen=True)
class Sizes:
    """How many inputs serve which purpose, at most."""

    training: int | None
    test: int
    """In-distribution, and as many out-of-distribution."""
    validation: int
    """Cut from the training images: for R̂ and for choosing settings."""
    typical: int
    """Training images whose mean log-likelihood the typicality test compares with."""


FULL = Sizes(training=None, test=5_000, validation=2_000, typical=2_000)
QUICK = Sizes(training=6_000, test=500, validation=200, typical=200)


@dataclass(frozen=True, eq=False)
class Inputs:
    """The images of one benchmark and seed, uint8 (N, C, H, W)."""

    training: Tensor
    validation: Tensor
    typical: Tensor
    inliers: Tensor
    outliers: Tensor

    @property
    def test(self) -> Tensor:
        """The in-distribution test images, then the others."""
        return torch.cat([self.inliers, self.outliers])


_SPLITS = ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9))


def _held_out(classes: tuple[int, int]) -> Benchmark:
    first, second = classes
    return Benchmark(
        name=f"fashion-mnist-heldout-{first}{second}",
        title=f"FashionMNIST without classes {first} and {second}",
        inliers="fashion-mnist",
        outliers="fashion-mnist",
        model="paper-fashion-mnist",
        background_rate=0.15,
        training_images=48_000,
        held_out=classes,
    )


BENCHMARKS: Mapping[str, Benchmark] = MappingProxyType(
    {
        each.name: each
        for each in (
            Benchmark(
                name="fashion-mnist-vs-mnist",
                title="FashionMNIST vs MNIST",
                inliers="fashion-mnist",
                outliers="mnist",
                model="paper-fashion-mnist",
                background_rate=0.2,
                training_images=60_000,
            ),
            Benchmark(
                name="svhn-vs-cifar10",
                title="SVHN vs CIFAR10",
                inliers="svhn",
                outliers="cifar10",
                model="paper-svhn",
                background_rate=0.15,
                training_images=73_257,
            ),
            *map(_held_out, _SPLITS),
        )
    }
)
"""Every benchmark by name, in the order of the paper's table."""

GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"fashion-mnist-heldout": tuple(name for name, each in BENCHMARKS.items() if each.held_out)}
)
"""Benchmarks that the table shows as one column, the mean over their members."""


def expand(names: Sequence[str]) -> list[Benchmark]:
    """The benchmarks of these names, groups replaced by their members; all of them where none is named.

    >>> [each.name for each in expand(["svhn-vs-cifar10"])]
    ['svhn-vs-cifar10']
    >>> len(expand(["fashion-mnist-heldout"])), len(expand([]))
    (5, 7)
    """
    known = (*BENCHMARKS, *GROUPS)
    for name in names:
        if name not in known:
            raise SettingsError(f"there is no benchmark {name!r}; choose one of {', '.join(known)}")
    members = [member for name in names for member in GROUPS.get(name, (name,))] or list(BENCHMARKS)
    return [BENCHMARKS[name] for name in dict.fromkeys(members)]


def load_inputs(
    benchmark: Benchmark,
    sizes: Sizes,
    *,
    seed: int,
    purpose: Purpose = "test",
    device: torch.device | str = "cpu",
) -> Inputs:
    """The benchmark's images, chosen at random by the seed.

    Both classes get the same number of test images, as many as the smaller one has where that is below
    ``sizes.test``: the test set holds 2,000 images of two FashionMNIST classes. The paper's AUPRC values on
    that benchmark (near .5 where AUROC is near .5) say that its classes were balanced too. For a
    ``selection`` there are no test images.
    """
    training, validation = load_training(benchmark, sizes, seed=seed, device=device)
    typical = numpy_stream(seed, "paper", benchmark.name, "typical").permutation(len(training))
    rows = torch.from_numpy(np.sort(typical[: sizes.typical])).to(training.device)
    tested = _test_images(benchmark, sizes, seed) if purpose == "test" else (training[:0], training[:0])
    inliers, outliers = (images.to(device) for images in tested)
    return Inputs(training, validation, training[rows], inliers, outliers)


def load_training(
    benchmark: Benchmark, sizes: Sizes, *, seed: int, device: torch.device | str = "cpu"
) -> tuple[Tensor, Tensor]:
    """Training and validation images of the benchmark; no outlier is ever read here."""
    source = load_dataset(benchmark.inliers, "train")
    images = source.images
    if benchmark.held_out:
        images = images[hold_out_classes(source.labels, benchmark.held_out)[0]]
    if len(images) <= sizes.validation:
        raise DataError(
            f"{benchmark.inliers} has {len(images)} training images, too few to set {sizes.validation} "
            "aside for validation; use the whole dataset"
        )
    order = numpy_stream(seed, "paper", benchmark.name, "validation").permutation(len(images))
    validation, training = order[: sizes.validation], order[sizes.validation :][: sizes.training]
    return to_tensor(images[np.sort(training)]).to(device), to_tensor(images[np.sort(validation)]).to(device)


def _test_images(benchmark: Benchmark, sizes: Sizes, seed: int) -> tuple[Tensor, Tensor]:
    """As many of each class, in the order they have in the dataset."""
    inside = load_dataset(benchmark.inliers, "test")
    if benchmark.held_out:
        known, unknown = hold_out_classes(inside.labels, benchmark.held_out)
        inliers, outliers = inside.images[known], inside.images[unknown]
    else:
        inliers, outliers = inside.images, load_dataset(benchmark.outliers, "test").images
    count = min(sizes.test, len(inliers), len(outliers))
    chosen = [
        images[np.sort(numpy_stream(seed, "paper", benchmark.name, name).permutation(len(images))[:count])]
        for images, name in ((inliers, "test inliers"), (outliers, "test outliers"))
    ]
    return to_tensor(chosen[0]), to_tensor(chosen[1])
