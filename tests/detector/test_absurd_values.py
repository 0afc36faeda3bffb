"""Values that are absurdly far from the rest of their column: named, and harmless."""

import numpy as np
import pytest

from dissensus import Detector
from dissensus.errors import InputWarning


@pytest.fixture(scope="module")
def prices():
    """Price, area and rooms of 800 flats."""
    rng = np.random.default_rng(0)
    price = np.exp(rng.normal(3.5, 0.4, size=800))
    return np.stack([price, 2 * price + 5 * rng.normal(size=800), rng.integers(1, 6, 800)], axis=1)


@pytest.mark.parametrize("value", [1e5, 1e7, 1e9, -1e200])
def test_one_absurd_price_neither_stops_nor_blinds_the_gate(quick, prices, value):
    train, unseen = prices[:600].copy(), prices[600:]
    train[17, 0] = value
    with pytest.warns(InputWarning, match=f"row 17, column 0: {value:g}".replace("+", "[+]")) as seen:
        gate = quick(epochs=15, false_alarm_rate=0.05).fit(train)
    assert seen[0].filename == __file__
    assert (gate.predict(unseen * [10, 1, 1]) == -1).mean() > 0.95
    assert (gate.predict(unseen) == -1).mean() < 0.15


@pytest.mark.parametrize("value", [1e5, 1e9])
def test_nor_does_it_the_detector_of_rows_as_it_comes(prices, value):
    train, unseen = prices[:600].copy(), prices[600:]
    train[17, 0] = value
    gate = Detector(epochs=8, false_alarm_rate=0.05, device="cpu", random_state=0)
    with pytest.warns(InputWarning, match="row 17, column 0"):
        gate.fit(train)
    assert (gate.predict(unseen * [10, 1, 1]) == -1).mean() > 0.95
    assert (gate.predict(unseen) == -1).mean() < 0.15


def test_heavy_tails_are_not_called_absurd(quick):
    rng = np.random.default_rng(0)
    rows = np.stack([np.exp(2 * rng.normal(size=500)), rng.normal(size=500), rng.poisson(0.02, 500)], axis=1)
    quick().fit(rows)  # warnings are errors in tests


def test_columns_are_called_by_their_names(quick, prices, tmp_path):
    flats = prices[:900].copy()
    flats[[3, 5, 9, 11], 1] = 1e8
    np.savetxt(tmp_path / "flats.csv", flats, delimiter=",", header="price,area,rooms", comments="")
    with pytest.warns(InputWarning, match="4 values.*row 3, area: 1e[+]08; .* and 1 more"):
        quick().fit(tmp_path / "flats.csv")


def test_scores_grow_with_the_distance(quick, prices):
    gate = quick(epochs=15).fit(prices)
    row = prices[:1].repeat(6, axis=0)
    row[:, 0] = 10.0 ** np.arange(2, 8)
    assert (np.diff(-gate.score_samples(row)) >= 0).all()
