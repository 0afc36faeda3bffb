"""Asking a gate, and whether what comes is a clear error or a correct result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.checks.fuzzing.originals import Originals

__all__ = ["WrongError", "ask_file", "check_message_of_name", "load_and_ask"]


class WrongError(Exception):
    """A case ended neither in a clear error nor in a correct result."""


def load_and_ask(originals: Originals, name: str, folder: Path, *, same: bool) -> str:
    """Loads a gate and asks it; ``same`` is whether it must then decide as the original does."""
    from dissensus import BayesianVAE
    from dissensus.errors import DissensusError

    try:
        gate = BayesianVAE.load(folder, device="cpu")
        found = gate.decide(originals.asked[name])
    except DissensusError as error:
        return check_message(error)
    right = originals.right[name]
    if same and not all(np.array_equal(a, b) for a, b in zip(found, right, strict=True)):
        raise WrongError("an altered gate decides otherwise")
    return check_decisions(found, len(right.score))


def ask_file(originals: Originals, gate: str, path: Path) -> str:
    """Asks a good gate about a file."""
    from dissensus.errors import DissensusError

    try:
        return check_decisions(originals.gates[gate].decide(path))
    except DissensusError as error:
        return check_message_of_name(error)


def check_message(error: Exception) -> str:
    """Refuses a message that is not one sentence of readable length."""
    text = str(error)
    if not text or "\n" in text or len(text) > 2000:
        raise WrongError(f"no clear message: {text[:200]!r}")
    return "error"


def check_message_of_name(error: Exception) -> str:
    """A name may hold a line break of its own."""
    return check_message(type(error)(str(error).replace("a\nb", "ab")))


def check_decisions(found: Any, count: int | None = None) -> str:
    """Refuses decisions that no detector could have made."""
    size = len(found.score) if count is None else count
    if not (found.score.shape == found.p_value.shape == found.flagged.shape == (size,)):
        raise WrongError("decisions of wrong shapes")
    if np.isnan(found.score).any() or not ((found.p_value > 0) & (found.p_value <= 1)).all():
        raise WrongError("decisions that are no numbers")
    return "result"
