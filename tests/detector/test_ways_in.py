"""Every way in gives the scores that were recorded (``tools/ways_in.py``): the same bits on one machine."""

import json
from pathlib import Path

import numpy as np
import pytest
import ways_in

GOLDEN = Path(__file__).parents[1] / "golden" / "ways-in.json"

pytestmark = [
    pytest.mark.usefixtures("whole_self_test"),
    pytest.mark.filterwarnings("ignore"),  # so few inputs, that warnings are due
]


@pytest.fixture(scope="module")
def found():
    pytest.importorskip("pyarrow")
    pytest.importorskip("fastapi")
    return ways_in.answers()


@pytest.mark.parametrize("kind", ["table", "rows", "pictures"])
def test_every_way_in_gives_the_same_bits(found, kind):
    first = next(iter(found[kind].values()))
    assert {way for way, scores in found[kind].items() if scores != first} == set()


@pytest.mark.parametrize("kind", ["table", "rows", "pictures"])
def test_scores_are_those_recorded(found, kind):
    recorded = json.loads(GOLDEN.read_text("utf-8"))
    expected, scores = recorded["scores"][kind], next(iter(found[kind].values()))
    if recorded["machine"] == ways_in.machine():
        assert scores == expected
    else:  # another processor or torch rounds otherwise, and a fit of few steps carries that on
        numbers = [[float.fromhex(score) for score in own] for own in (scores, expected)]
        np.testing.assert_allclose(*numbers, rtol=0.05, atol=0.05)
