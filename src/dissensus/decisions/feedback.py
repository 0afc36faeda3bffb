r"""Which inputs that a person has looked at may join the calibration set, so that p-values stay uniform.

People look at alarms. Normal inputs among these were chosen by their score, and a calibration set that they
join holds too many high scores: p-values grow, and alarms become rarer than was asked for, of outliers too.
Conformal p-values need calibration inputs that were chosen whatever they score.

If every flagged input is looked at, and of the others a share ρ that is drawn by chance, then a normal input
with score s is looked at with probability π(s), which is 1 above the threshold and ρ below. If it then joins
with probability

.. math:: ρ / π(s)

every normal input of the stream joins with probability ρ, whatever it scores: those that join are drawn by
chance from all normal inputs, and P(p ≤ t) ≤ t holds as before. With ρ = 0, where alarms alone are looked at,
none can join: nothing is known of what was never looked at.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dissensus.errors import SettingsError

__all__ = ["joining"]


def joining(flagged: ArrayLike, audited: float, random: np.random.Generator) -> NDArray[np.bool_]:
    """Return which of the normal inputs (N,) that were looked at join the calibration set.

    ``flagged`` (N,) says which were looked at because they were flagged, ``audited`` is ρ, the share of all
    others that was drawn by chance and looked at too.

    >>> random = np.random.default_rng(0)
    >>> joining([True, True, False], 1.0, random), joining([True, True, False], 0.0, random)
    (array([ True,  True,  True]), array([False, False, False]))
    """
    chosen = np.asarray(flagged, dtype=np.bool_)
    if not 0 <= audited <= 1:
        raise SettingsError(
            f"audited is a share from 0 to 1 of the inputs that were not flagged, not {audited}"
        )
    drawn = random.random(len(chosen)) < audited  # drawn for all, so that one more changes no other
    return np.where(chosen, drawn, audited > 0)
