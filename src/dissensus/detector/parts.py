"""Which share of the rows that a detector is fitted on serves which purpose."""

from __future__ import annotations

import math

__all__ = ["part_fractions", "rows_for_calibration"]

CALIBRATION = 3 / 20
VALIDATION = 1 / 20
SMALL_VALIDATION, ENOUGH = 1 / 8, 64  # of few rows a larger share, until there are so many for validation


def part_fractions(rows: int) -> dict[str, float]:
    """The shares of training, validation and calibration, each of at least a row.

    Three twentieths are for calibration. A twentieth is for validation, or of few rows an eighth: statistics
    are put on one scale by these, and a dozen rows show no scale.

    >>> {name: round(share * 2000) for name, share in part_fractions(2000).items()}
    {'train': 1600, 'validation': 100, 'calibration': 300}
    >>> {name: round(share * 200) for name, share in part_fractions(200).items()}
    {'train': 145, 'validation': 25, 'calibration': 30}
    """
    validation = max(1, int(VALIDATION * rows), min(int(SMALL_VALIDATION * rows), ENOUGH))
    calibration = max(1, 3 * rows // 20)
    training = rows - validation - calibration
    return {"train": training / rows, "validation": validation / rows, "calibration": calibration / rows}


def rows_for_calibration(calibration: int) -> int:
    """How many rows to fit on so that at least ``calibration`` of them are for calibration.

    >>> rows_for_calibration(99), 3 * rows_for_calibration(99) // 20
    (660, 99)
    """
    return math.ceil(calibration / CALIBRATION)
