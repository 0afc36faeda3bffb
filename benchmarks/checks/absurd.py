"""One absurd value among 5,000 prices: does the fit survive it, does the gate still see ten-fold prices?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.checks.asked import Asked
from benchmarks.checks.few import DETECTORS, QUICK
from benchmarks.pieces import Found, Piece
from benchmarks.records import Record
from dissensus.errors import InputWarning

__all__ = ["pieces", "prices", "sentences"]

VALUES = (1e5, 1e7, 1e9)
ROWS, ASKED, RATE = 5000, 1259, 0.05


def pieces(asked: Asked) -> Iterator[Piece]:
    """Each detector as it comes."""
    rows = 500 if asked.quick else ROWS
    for name in DETECTORS:
        settings = {"detector": name, "rows": rows, "asked": ASKED, "values": list(VALUES), "rate": RATE}
        settings |= QUICK if asked.quick else {}
        measure = partial(_measured, name, rows, quick=asked.quick)
        yield Piece("absurd", f"one absurd price, {name}()", settings, measure, asked.seeds[0])


def sentences(records: list[Record]) -> list[str]:
    """One sentence a value."""
    return [
        f"{record.name}, {row['value']:g}: {row['flagged_tenfold']:.1%} of ten-fold prices are flagged, "
        f"{row['flagged_normal']:.1%} of normal ones."
        for record in records
        for row in record.rows
    ]


def prices(count: int, seed: int) -> NDArray[np.float64]:
    """Price, area and number of rooms of made-up flats."""
    random = np.random.default_rng(seed)
    price = np.exp(random.normal(3.5, 0.4, size=count))
    return np.stack([price, 2 * price + 5 * random.normal(size=count), random.integers(1, 6, count)], axis=1)


def _measured(name: str, rows: int, say: Callable[[str], None], *, quick: bool) -> Found:
    found = []
    for value in VALUES:
        say(f"{value:g}")
        train, unseen = prices(rows, 0), prices(ASKED, 1)
        train[17, 0] = value
        gate = DETECTORS[name](
            false_alarm_rate=RATE, random_state=0, device="cpu", **(QUICK if quick else {})
        )
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            gate.fit(train)
        found.append(
            {
                "value": value,
                "named": any(issubclass(one.category, InputWarning) for one in raised),
                "flagged_tenfold": float((gate.predict(unseen * [10, 1, 1]) == -1).mean()),
                "flagged_normal": float((gate.predict(unseen) == -1).mean()),
            }
        )
    return Found(found)
