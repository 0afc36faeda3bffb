"""Small made-up tables and records of them."""

import numpy as np
import pytest

from benchmarks.records import Record, Records


@pytest.fixture
def folder(tmp_path):
    """Two tables, of 60 normal rows (ten of them twice) and 10 anomalies far away."""
    where = tmp_path / "made-up"
    where.mkdir()
    for number, columns in enumerate((2, 3)):
        random = np.random.default_rng(number)
        normal = random.normal(size=(60, columns))
        rows = np.concatenate([normal, normal[:10], random.normal(size=(10, columns)) + 9])
        np.savez(where / f"set-{number}.npz", X=rows, y=np.repeat([0, 1], [70, 10]))
    return where


@pytest.fixture
def recorded(tmp_path):
    """Adds what a detector had on sets, in their order; None is an error, and a set has one seed or more."""
    records = Records(tmp_path / "records")

    def add(detector, areas, *, columns=3, seeds=(0,), alarms=0.04, calibration=19, about=None):
        for number, area in enumerate(areas):
            row = {"rows": 9, "columns": columns, "normal": 3, "strange": 1, "calibration": calibration}
            row |= {"error": "X: y"} if area is None else {"auroc": area, "average_precision": area}
            row |= {} if area is None else {"false_alarms": alarms}
            for seed in seeds:
                name = f"{'set' if columns < 500 else 'embedding'}-{number}"
                seconds = {} if area is None else {"all": 2.0, "fit": 1.5, "score": 0.5}
                own = about(number) if callable(about) else about or {}
                made = Record(name, seed, {"detector": 1}, [row], seconds, own, environment={})
                records.add(detector, made)
        return records

    return add
