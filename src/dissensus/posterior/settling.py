r"""Has a chain arrived? How much likelier held-out inputs became from its first draws to its last.

A chain that samples makes held-out inputs about as likely by its first draws as by its last. One that is
still on its way passes every temperature: its weights move as strongly as they should, in one direction. Of
the epochs that gave a draw, in order, the change is the mean held-out log-likelihood of the last third minus
that of the first. Against it stands how far it jumps from draw to draw,
:math:`\mathrm{std}(\Delta) / \sqrt 2`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dissensus.posterior.diagnostics import EpochReport

__all__ = ["FEWEST", "SETTLED", "change", "drifts"]

SETTLED = 5.0
"""Nats an input. Committed runs that had arrived change by at most 2.8, those of cycles, and by 1.2 else;
those whose likelihood still rose, by at least 11 (docs/how-it-works.md)."""
JUMPS = 3.0
"""A change of fewer jumps from draw to draw may be chance."""
FEWEST = 6
"""Draws of a chain, to part into thirds."""


def change(draws: Sequence[float]) -> tuple[float, bool]:
    """By how many nats held-out inputs became likelier over a chain's draws, and whether they drift.

    >>> change([-310.0, -306.0, -305.0, -303.0, -302.0, -301.0])
    (6.5, True)
    >>> change([-306.5, -302.5, -303.0, -303.0, -302.0, -301.0])
    (3.0, False)
    """
    seen, third = np.asarray(draws, float), len(draws) // 3
    found = float(seen[-third:].mean() - seen[:third].mean())
    jump = float(np.diff(seen).std()) / math.sqrt(2)
    return found, abs(found) > max(SETTLED, JUMPS * jump)


def drifts(reports: Sequence[EpochReport]) -> dict[int, float]:
    """The change of each chain whose draws drift."""
    found = {}
    for chain in sorted({report.chain for report in reports}):
        told = [
            report.held_out_log_likelihood for report in reports if report.chain == chain and report.drawn
        ]
        seen = [value for value in told if value is not None and math.isfinite(value)]
        if FEWEST <= len(seen) == len(told):
            by, drifting = change(seen)
            if drifting:
                found[chain] = by
    return found
