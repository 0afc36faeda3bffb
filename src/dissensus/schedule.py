"""How long to run when nobody says: a schedule from the size of the training set."""

from __future__ import annotations

import math

from dissensus.errors import SettingsError

__all__ = ["default_batch_size", "default_epochs", "kept_epochs"]

LEAST_EPOCHS = 30
LEAST_STEPS = 1000  # a small set needs many epochs before a chain has moved anywhere


def default_batch_size(training_size: int) -> int:
    """About sixteen batches an epoch for small sets, batches of 128 for all others.

    >>> default_batch_size(200), default_batch_size(6000)
    (12, 128)
    """
    return min(training_size, max(8, min(128, training_size // 16)))


def default_epochs(training_size: int, batch_size: int) -> int:
    """At least 30 epochs, and as many as make 1,000 steps.

    >>> default_epochs(6000, 128), default_epochs(200, 12)
    (30, 63)
    """
    steps = max(1, training_size // batch_size)
    return max(LEAST_EPOCHS, math.ceil(LEAST_STEPS / steps))


def kept_epochs(epochs: int, draws: int) -> tuple[int, int]:
    """Burn-in B and thinning D that spread ``draws`` draws of a chain over the last third of its epochs.

    >>> kept_epochs(30, 10), kept_epochs(300, 10)
    ((21, 1), (201, 11))
    """
    if draws > epochs:
        raise SettingsError(
            f"{epochs} epochs give at most {epochs} draws a chain, not {draws}: run more epochs"
        )
    if draws == 1:
        return epochs, 1
    thinning = max(1, epochs // 3 // (draws - 1))
    return epochs - thinning * (draws - 1), thinning
