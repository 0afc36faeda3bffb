import numpy as np
import pytest

from benchmarks.archive import Archive
from benchmarks.paper.methods import METHODS, find_methods, other_scores
from dissensus.errors import SettingsError


def made_up_result(draws, seed):
    random = np.random.default_rng(seed)
    arrays = {
        "test": -100 + 5 * random.normal(size=(draws, 9)),
        "typical": -100 + random.normal(size=(draws, 7)),
    }
    return Archive(arrays, {"inliers": 5})


@pytest.fixture(scope="module")
def results():
    sizes = {"bvae1": 6, "bvae2": 7, "vaes": 5, "background": 1}
    return {run: made_up_result(draws, seed) for seed, (run, draws) in enumerate(sizes.items())}


def ess_by_hand(column):
    weights = np.exp(column - column.max())
    weights /= weights.sum()
    return 1 / (weights**2).sum()


BY_HAND = {
    "BVAE1": lambda r, i: -np.log1p(-1 / ess_by_hand(r["bvae1"]["test"][:, i])),
    "BVAE2": lambda r, i: -np.log1p(-1 / ess_by_hand(r["bvae2"]["test"][:, i])),
    "LL": lambda r, i: -r["vaes"]["test"][0, i],
    "LLR": lambda r, i: -(r["vaes"]["test"][0, i] - r["background"]["test"][0, i]),
    "TT": lambda r, i: abs(r["vaes"]["test"][0, i] - np.mean(r["vaes"]["typical"][0])),
    "WAIC": lambda r, i: -(np.mean(r["vaes"]["test"][:, i]) - np.var(r["vaes"]["test"][:, i])),
}


@pytest.mark.parametrize("name", METHODS)
def test_against_its_definition(name, results):
    method = METHODS[name]
    found = method.score({run: results[run] for run in method.runs})  # only what it says it needs
    expected = [BY_HAND[name](results, column) for column in range(9)]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_other_scores_are_of_the_same_inputs(results):
    others = other_scores(results["bvae1"])
    assert all(values.shape == (9,) for values in others.values())
    np.testing.assert_allclose(others["ess-with-ties"][3], -ess_by_hand(results["bvae1"]["test"][:, 3]))


def test_names_in_any_case_and_unknown_ones():
    assert [method.name for method in find_methods(["waic", "BVAE1", "waic"])] == ["WAIC", "BVAE1"]
    assert len(find_methods([])) == 6
    with pytest.raises(SettingsError, match="no method 'esp'"):
        find_methods(["esp"])
