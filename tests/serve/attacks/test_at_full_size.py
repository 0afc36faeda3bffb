"""The goals of the service under attack, with as many clients and bytes as were told: `make attack`.

They are about seconds, so that a busy machine can miss them; nothing of the kind is part of `make test`.
"""

import numpy as np
import pytest

from benchmarks.service.attacks import ATTACKS
from benchmarks.service.defence import Plan, measure_defence, missed

pytestmark = pytest.mark.attack


@pytest.mark.parametrize("names", [[], *([name] for name in ATTACKS), list(ATTACKS)], ids=" ".join)
def test_goals_are_kept(folder, pictures, names):
    found = measure_defence(folder / "pictures", np.asarray(pictures), names, Plan(seconds=8.0))
    (row,) = found.rows
    assert row["requests"] > 0
    assert row["refused"] == 0
    assert row["exit_code"] == 0
    assert missed(names, row) == [], row
