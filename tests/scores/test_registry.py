"""Scores by name, and the fitted one."""

import numpy as np
import pytest

from dissensus.errors import DataError, SettingsError
from dissensus.scores import SCORES, FittedScore, Typicality, ess_disagreement, mixture_log_likelihood, score

NAMES = (
    *("ess", "kl", "entropy", "std", "mad", "iqr", "whitened", "relative-std"),
    *("mean-ll", "mixture-ll", "waic", "typicality"),
)


def test_names_are_the_documented_ones():
    assert set(SCORES) == set(NAMES)


def test_every_score_has_a_one_line_description():
    descriptions = [entry.description for entry in SCORES.values()]
    assert all(text and "\n" not in text for text in descriptions)
    assert len(set(descriptions)) == len(SCORES)


def test_every_score_says_what_it_costs_and_fitted_ones_that_they_need_inliers():
    for entry in SCORES.values():
        assert entry.cost
        assert "\n" not in entry.cost
        assert ("to fit on" in entry.cost) == isinstance(entry.make(), FittedScore)


def test_names_cannot_be_changed_from_outside():
    with pytest.raises(TypeError):
        SCORES["ess"] = SCORES["kl"]  # type: ignore[index]


def test_lookup_gives_functions_as_they_are_and_fitted_scores_anew():
    assert score("ess") is ess_disagreement
    assert not isinstance(score("ess"), FittedScore)
    assert isinstance(score("typicality"), FittedScore)
    assert score("typicality") is not score("typicality")


@pytest.mark.parametrize("name", ["ESS", "", None, ["ess"]])
def test_unknown_name_lists_the_known_ones(name):
    with pytest.raises(SettingsError, match=", ".join(NAMES)):
        score(name)


@pytest.mark.parametrize("name", SCORES)
def test_higher_is_more_out_of_distribution(name):
    rng = np.random.default_rng(0)
    inliers = rng.normal(-100.0, 1.0, size=(10, 200))
    outliers = rng.normal(-300.0, 30.0, size=(10, 200))
    chosen = score(name)
    if isinstance(chosen, FittedScore):
        chosen.fit(rng.normal(-100.0, 1.0, size=(10, 200)))
    assert np.quantile(chosen(inliers), 0.9) < np.quantile(chosen(outliers), 0.1)


def test_typicality_is_the_distance_from_the_mean_mixture_likelihood():
    rng = np.random.default_rng(1)
    train, test = rng.normal(-50.0, 5.0, size=(4, 30)), rng.normal(-40.0, 9.0, size=(4, 20))
    expected = np.abs(mixture_log_likelihood(test) - mixture_log_likelihood(train).mean())
    np.testing.assert_allclose(Typicality().fit(train)(test), expected, rtol=1e-13)


def test_typicality_survives_its_state():
    fitted = Typicality().fit(np.array([[-3.0, -4.0, -9.5]]))
    state = fitted.state()
    assert all(array.dtype == np.float64 for array in state.values())
    matrix = np.array([[-1.0, -20.0]])
    np.testing.assert_array_equal(Typicality().restore(state)(matrix), fitted(matrix))


def test_typicality_must_be_fitted_first():
    with pytest.raises(SettingsError, match="call fit"):
        Typicality()(np.zeros((2, 2)))
    with pytest.raises(SettingsError, match="call fit"):
        Typicality().state()


def test_typicality_refuses_no_inliers_and_foreign_state():
    with pytest.raises(DataError, match="at least one inlier"):
        Typicality().fit(np.zeros((2, 0)))
    with pytest.raises(DataError, match="covariance"):
        Typicality().restore({"covariance": np.eye(2)})
