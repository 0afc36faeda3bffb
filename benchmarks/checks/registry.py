"""The checks by name, each a file of its own, found when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from dissensus.errors import SettingsError

if TYPE_CHECKING:
    from benchmarks.checks.asked import Asked
    from benchmarks.pieces import Piece
    from benchmarks.records import Record

__all__ = ["CHECKS", "Check", "find_check", "find_names"]

CHECKS: Mapping[str, str] = {
    "demo": "what `dissensus demo` finds",
    "few": "what detectors of a few hundred inputs find",
    "absurd": "one absurd value among 5,000 prices",
    "fused": "what fusing statistics brings, and what it costs",
    "importance": "error and bias of an importance-sampled log-likelihood where the truth is known",
    "memory": "memory of a large likelihood matrix",
    "proposals": "the paper's mixture of proposals beside each draw's own",
    "streaming": "time and memory to score a million images",
    "shards": "what dividing a scoring of a million rows costs",
    "larger": "a fit of four times the memory it may take",
    "kills": "a hundred killed processes lose and double no row",
    "ray_workers": "two Ray workers beside one",
    "manifests": "the manifests for Slurm and Kubernetes make what one process makes",
    "shift": "what is seen of a shift, and what weights, adapted rates and margins do about it",
    "svhn": "why SVHN's test images raise more false alarms than its training images foretell",
    "in_colour": "how many colour pictures each model of pictures scores a second",
    "colour_fit": "how long a fit to all of CIFAR-10 takes on a GPU",
    "onnx": "whether an exported gate says what the gate says, and how long it takes",
    "fuzz": "mutated gates and inputs end in a clear error or a correct result",
    "gpu": "the tests that need a GPU, on the one that is here",
}
"""What each measures; the name is that of the file and of the group of its records."""


class Check(NamedTuple):
    """What a check's file defines."""

    pieces: Callable[[Asked], Iterable[Piece]]
    sentences: Callable[[list[Record]], list[str]]


def find_names(wanted: list[str]) -> list[str]:
    """The checks of these names, or all."""
    unknown = [name for name in wanted if name not in CHECKS]
    if unknown:
        raise SettingsError(f"there is no check {unknown[0]!r}; choose one of {', '.join(CHECKS)}")
    return [name for name in CHECKS if not wanted or name in wanted]


def find_check(name: str) -> Check:
    """The check of that name."""
    module = importlib.import_module(f"benchmarks.checks.{name}")
    return Check(module.pieces, module.sentences)
