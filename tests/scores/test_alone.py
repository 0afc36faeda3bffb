"""A score is the same number, to the last bit, whatever inputs it is computed with."""

import numpy as np
import pytest

from dissensus.scores import MATRIX, SCORES, Fusion, score

DRAWS, INPUTS = 20, 37


def matrix(seed, inputs=INPUTS):
    rng = np.random.default_rng(seed)
    return -250 + 30 * rng.normal(size=inputs) + 2 * rng.normal(size=(DRAWS, inputs))


def alone_and_together(ask):
    """Of each column by itself, of all, of all but the first, and of all backwards."""
    together = ask(slice(None))
    alone = np.concatenate([ask(slice(n, n + 1)) for n in range(INPUTS)])
    others = np.concatenate([together[:1], ask(slice(1, None))])
    return together, alone, others, ask(slice(None, None, -1))[::-1]


@pytest.mark.parametrize("name", [name for name in SCORES if score(name).requires == (MATRIX,)])
def test_scores_of_the_matrix(name):
    found = score(name).fit(matrix(0, 300))
    values = matrix(1)
    together, *others = alone_and_together(lambda columns: np.asarray(found(values[:, columns])))
    for other in others:
        np.testing.assert_array_equal(other, together)


@pytest.mark.parametrize("depth", ["gaussian", "mixture"])
@pytest.mark.parametrize("leading", [(), ("b", "d")])
def test_fusion(depth, leading):
    def statistics(seed, inputs):
        rng = np.random.default_rng(seed)
        values = rng.normal(size=(11, inputs)) @ np.diag(rng.gamma(2, size=inputs))
        return {chr(ord("a") + j): row for j, row in enumerate(values)}

    fusion = Fusion(depth, leading).fit(statistics(0, 400))
    values = statistics(1, INPUTS)
    together, *others = alone_and_together(
        lambda columns: fusion({name: row[columns] for name, row in values.items()})
    )
    for other in others:
        np.testing.assert_array_equal(other, together)
