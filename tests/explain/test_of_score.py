"""Of rows whose score adds up nats an explanation is of the score, whether that asks draws or not."""

import numpy as np
import pytest

from dissensus import BayesianFlow, Detector
from dissensus.scores import MATRIX

COLUMNS = 70


@pytest.fixture(scope="module")
def rows():
    """Rows (260, 70) that depend on five numbers, each column in units of its own."""
    random = np.random.default_rng(0)
    plane = random.normal(size=(260, 5)) @ random.normal(size=(5, COLUMNS))
    units = 10.0 ** random.integers(-1, 2, COLUMNS)
    return 7 + (plane + 0.3 * random.normal(size=(260, COLUMNS))) * units


@pytest.fixture(scope="module")
def gate(rows):
    settings = {"kind": "realnvp", "transforms": 1, "hidden": (4,), "chains": 2, "epochs": 1}
    return BayesianFlow(**settings, batch_size=64, device="cpu").fit(rows[:200])


def test_what_a_column_causes_is_its_part_of_the_score(gate, rows):
    assert MATRIX not in gate.score_.requires
    row = rows[220].copy()
    row[[3, 40]] += 9 * rows[:, [3, 40]].std(axis=0)
    parts = []
    for column in range(COLUMNS):
        without = row.copy()
        without[column] = gate.preprocessor_.standardiser.mean[column]
        parts.append(gate.score_samples(without[None])[0] - gate.score_samples(row[None])[0])
    found = gate.explain(row)
    np.testing.assert_allclose(found.disagreement, np.maximum(parts, 0), rtol=1e-3, atol=1e-3)
    assert found.disagreement.max() > 0.1


def test_a_planted_column_is_first(gate, rows):
    columns = np.arange(0, COLUMNS, 5)
    asked = rows[200 : 200 + len(columns)].copy()
    asked[np.arange(len(columns)), columns] += 8 * rows[:, columns].std(axis=0)
    first = np.array([found.ranking[0] for found in gate.explain(asked)])
    assert np.mean(first == columns) >= 0.7  # by the draws, which the score does not ask, it is .2


def test_of_other_scores_it_is_the_disagreement_of_the_draws(rows):
    gate = Detector(statistic="std", chains=2, epochs=1, device="cpu").fit(rows[:200, :3])
    row = rows[210, :3] + [0, 0, 900.0]
    without = row.copy()
    without[2] = gate.preprocessor_.standardiser.mean[2]
    spread = gate.log_likelihoods(np.stack([row, without])).values.std(axis=0)
    assert gate.explain(row).disagreement[2] == pytest.approx(max(0.0, spread[0] - spread[1]), rel=1e-3)
