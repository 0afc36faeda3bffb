"""Scores by name, and the simplest one that learns."""

import numpy as np
import pytest

from dissensus.errors import DataError, SettingsError
from dissensus.scores import SCORES, Score, Typicality, mixture_log_likelihood, score


def test_every_score_has_a_one_line_description():
    descriptions = [score(name).description for name in SCORES]
    assert all(text and "\n" not in text and not text.endswith(".") for text in descriptions)
    assert len(set(descriptions)) == len(SCORES)


@pytest.mark.parametrize("name", SCORES)
def test_a_name_is_that_of_its_class(name):
    assert issubclass(SCORES[name], Score)
    assert score(name).name == SCORES[name].name == name


def test_names_cannot_be_changed_from_outside():
    with pytest.raises(TypeError):
        SCORES["ess"] = SCORES["kl"]  # type: ignore[index]


def test_lookup_gives_a_new_score_each_time():
    assert isinstance(score("typicality"), Typicality)
    assert score("typicality") is not score("typicality")


@pytest.mark.parametrize("name", ["ESS", "", None, ["ess"]])
def test_unknown_name_lists_the_known_ones(name):
    with pytest.raises(SettingsError, match=", ".join(SCORES)):
        score(name)


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
