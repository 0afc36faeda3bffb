"""Which images serve which purpose, chosen by the seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.clusters import cluster_labels
from benchmarks.panel.sets import InlierSet
from dissensus.detector.effort import WHOLE
from dissensus.errors import DataError, SettingsError
from dissensus.inputs import MADE_UP, Dataset, digits, hold_out_classes, load_dataset, make_up
from dissensus.inputs.pictures import PicturePreprocessor, picture_surroundings
from dissensus.models.inputs import to_tensor
from dissensus.seeding import numpy_stream, stream_seed

__all__ = [
    "FITTED_ON",
    "FULL",
    "MADE_UP_TO_LEARN",
    "OF_TEST_FILE",
    "OF_TRAINING_FILE",
    "QUICK",
    "Inputs",
    "Purpose",
    "Sizes",
    "load_inputs",
]

Purpose: TypeAlias = Literal["test", "selection"]
"""``selection`` reads training images alone: inliers are some set aside, outliers are made up of others."""

Images: TypeAlias = NDArray[np.uint8]

OF_TRAINING_FILE = "calibration of the training file"
OF_TEST_FILE = "calibration of the test file"
"""The two sections that p-values come from: images of the file that was trained on, which shows what a shift
between the files does, and images of the file that the inliers are from. Neither serves anything else."""

FITTED_ON = ("fitting", "fusing", OF_TRAINING_FILE)
"""Sections that are cut from the training set, none in two: scores learn from the first, their fusion from
the second, p-values come from the third."""

MADE_UP_TO_LEARN = "made up to learn from: "
"""With the kind after it: sections of outliers that are made up of images of ``fusing``. How much a statistic
is to count can be learnt from them, because no image of a test file is among them."""


@dataclass(frozen=True)
class Sizes:
    """How many images serve which purpose, at most."""

    training: int | None
    fitting: int
    fusing: int
    calibration: int
    """Of the training file."""
    inliers: int
    outliers: int
    """Of each set."""
    test_calibration: int = 0
    """Of the test file, where that is read."""
    made_up: int = 0
    """Of each kind, to learn from."""
    regret: int = 0
    """Of each section: images whose likelihood regret is found, which costs thousands of decodings each."""
    first: tuple[int, int] | None = None
    """Only so many images of each training file are read, and so many of each test file: the first."""

    def described(self, purpose: Purpose) -> dict[str, Any]:
        """Those that the numbers of that purpose depend on, as plain values."""
        # Baselines, which share these, do not learn from what is made up to learn from.
        unread = {"made_up", *(["test_calibration"] if purpose == "selection" else [])}
        if self.first is None:
            unread.add("first")
        return {name: count for name, count in asdict(self).items() if name not in unread}

    def set_aside(self, purpose: Purpose) -> int:
        """Training images that are not trained on."""
        learnt_from = self.fitting + self.fusing + self.calibration
        return learnt_from + (self.inliers + self.outliers) * (purpose == "selection")

    def training_size(self, inliers: InlierSet, purpose: Purpose) -> int:
        """Images to train on."""
        left = inliers.training_images - self.set_aside(purpose)
        return left if self.training is None else min(left, self.training)

    def scored(self, inliers: InlierSet, purpose: Purpose) -> int:
        """Images in all sections together, or a few more."""
        others = inliers.outliers if purpose == "test" or inliers.left_out else inliers.made_up
        kinds = len(others)
        of_test_file = self.test_calibration * (purpose == "test")
        learnt_from = self.fitting + self.fusing + self.calibration + len(MADE_UP) * self.made_up
        return learnt_from + self.inliers + kinds * self.outliers + of_test_file


# A test file has 10,000 images, or 8,000 without two of ten classes, which nothing is made up of: all serve.
FULL = Sizes(
    training=None,
    fitting=2_000,
    fusing=2_000,
    calibration=5_000,
    inliers=5_000,
    outliers=2_000,
    test_calibration=3_000,
    made_up=500,
)
QUICK = Sizes(
    training=3_000,
    fitting=200,
    fusing=200,
    calibration=250,
    inliers=250,
    outliers=100,
    test_calibration=250,
    made_up=50,
)


@dataclass(frozen=True, eq=False)
class Inputs:
    """The images of one in-distribution set and seed."""

    training: Tensor
    """uint8 (N, C, H, W)"""
    scored: Tensor
    """uint8 (N, C, H, W): all sections, one after the other."""
    sections: Mapping[str, slice]
    """:data:`FITTED_ON`, ``inliers``, the outliers by name, :data:`OF_TEST_FILE` where it was read, and those
    of :data:`MADE_UP_TO_LEARN`."""

    seed: int = 0

    @cached_property
    def image_statistics(self) -> dict[str, NDArray[np.float64]]:
        """Those that need no model (N,), by name, of all sections: the same for every posterior."""
        training, scored = (
            np.ascontiguousarray(images.permute(0, 2, 3, 1).cpu().numpy())
            for images in (self.training, self.scored)
        )
        near = picture_surroundings(training, numpy_stream(self.seed, "panel", "surroundings"))
        found = PicturePreprocessor(scored.shape[1:], surroundings=near).statistics(scored, scored)
        return {name: each for name, each in found.items() if name not in WHOLE.leaves_out}


def load_inputs(
    inliers: InlierSet,
    sizes: Sizes,
    *,
    seed: int,
    purpose: Purpose = "test",
    device: torch.device | str = "cpu",
) -> Inputs:
    """The images of an in-distribution set, everything it is compared with, and what is learnt from."""
    images, left_out = _of_dataset(inliers, "train", sizes)
    if len(images) <= sizes.set_aside(purpose):
        raise DataError(
            f"{inliers.dataset} has {len(images)} training images, too few to set {sizes.set_aside(purpose)} "
            "aside; use the whole dataset"
        )
    if inliers.left_out and purpose == "test":
        raise SettingsError(f"{inliers.name} is to choose by: add --select")
    order = numpy_stream(seed, "panel", inliers.name, "split").permutation(len(images))
    counts = [sizes.fitting, sizes.fusing, sizes.calibration]
    if purpose == "selection":
        counts += [sizes.inliers, sizes.outliers]
    *parts, rest = np.split(order, np.cumsum(counts))
    sections = {name: images[rows] for name, rows in zip(FITTED_ON, parts, strict=False)}
    if purpose == "selection":
        sections["inliers"] = images[parts[3]]
        if inliers.left_out:
            sections[inliers.clusters] = _some(left_out, sizes.outliers, seed, inliers.name)
        sections |= _made_up(inliers, images[parts[4]], seed)
    else:
        sections |= _test_sections(inliers, sizes, seed)
    if sizes.made_up:
        of_fusing = _made_up(inliers, sections["fusing"][: sizes.made_up], seed)
        sections |= {MADE_UP_TO_LEARN + kind: made for kind, made in of_fusing.items()}
    ends = np.cumsum([len(section) for section in sections.values()]).tolist()
    starts = [0, *ends[:-1]]
    return Inputs(
        training=_tensor(images[np.sort(rest[: sizes.training])]).to(device),
        scored=_tensor(np.concatenate(list(sections.values()))).to(device),
        sections={name: slice(*ends) for name, *ends in zip(sections, starts, ends, strict=True)},
        seed=seed,
    )


def _test_sections(inliers: InlierSet, sizes: Sizes, seed: int) -> dict[str, Images]:
    """Test inliers, outliers, and what p-values come from.

    Outliers are made up of other test images, of other datasets, or of held-out classes.
    """
    known, unknown = _of_dataset(inliers, "test", sizes)
    made_of = 0 if inliers.held_out else sizes.outliers
    needed = sizes.inliers + made_of + sizes.test_calibration
    if len(known) < needed:
        raise DataError(
            f"{inliers.name} has {len(known)} test images, fewer than the {needed} that serve as inliers, as "
            "calibration images, and to make outliers of; use the whole dataset"
        )
    order = numpy_stream(seed, "panel", inliers.name, "inliers").permutation(len(known))
    inside, base, _, calibration = np.split(
        order, [sizes.inliers, sizes.inliers + made_of, len(known) - sizes.test_calibration]
    )
    sections = {"inliers": known[inside]}
    if inliers.held_out:
        name = inliers.outliers[0]
        sections[name] = _some(unknown, sizes.outliers, seed, name)
    else:
        for name in inliers.other_datasets:
            others = digits() if name == "digits" else _read(name, "test", sizes).images
            sections[name] = _some(others, sizes.outliers, seed, name)
        sections |= _made_up(inliers, known[base], seed)
    return sections | {OF_TEST_FILE: known[calibration]}


def _made_up(inliers: InlierSet, images: Images, seed: int) -> dict[str, Images]:
    return {kind: make_up(kind, images, stream_seed(seed, "panel", inliers.name)) for kind in MADE_UP}


def _read(name: str, split: Literal["train", "test"], sizes: Sizes) -> Dataset:
    """A dataset, or the first of its images."""
    whole = load_dataset(name, split)
    if sizes.first is None:
        return whole
    first = slice(sizes.first[split == "test"])
    return Dataset(whole.images[first], whole.labels[first], name, split)


def _of_dataset(inliers: InlierSet, split: Literal["train", "test"], sizes: Sizes) -> tuple[Images, Images]:
    """Images of the classes or clusters that are learnt, and of those that are held out."""
    source = _read(inliers.dataset, split, sizes)
    if inliers.left_out:
        labels = cluster_labels(inliers.dataset, None if sizes.first is None else sizes.first[0])
        outside = np.isin(labels, inliers.left_out)
        return source.images[~outside], source.images[outside]
    if not inliers.held_out:
        return source.images, source.images[:0]
    known, unknown = hold_out_classes(source.labels, inliers.held_out)
    return source.images[known], source.images[unknown]


def _some(images: Images, count: int, seed: int, name: str) -> Images:
    return images[numpy_stream(seed, "panel", "outliers", name).permutation(len(images))[:count]]


def _tensor(images: Images) -> Tensor:
    """Grey (N, H, W) or colour (N, H, W, 3) to (N, C, H, W)."""
    return to_tensor(images)
