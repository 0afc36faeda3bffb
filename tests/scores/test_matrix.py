"""What counts as a log-likelihood matrix, the same for every score."""

import numpy as np
import pytest

from dissensus.errors import DataError, DissensusError, SettingsError
from dissensus.scores import MATRIX, SCORES, effective_sample_size, score

OF_MATRIX = [name for name in SCORES if score(name).requires == (MATRIX,)]
NEEDS_TWO = [name for name in OF_MATRIX if score(name).least_draws == 2]
NEEDS_ONE = [name for name in OF_MATRIX if score(name).least_draws == 1]


def ready(name):
    """The score, if need be fitted on two inliers of as many draws as it is then asked about."""
    if not score(name).learns:
        return score(name)

    def fitted(matrix):
        draws = max(np.shape(matrix)[0], 2) if np.ndim(matrix) == 2 else 2
        return score(name).fit(np.full((draws, 2), -7.0))(matrix)

    return fitted


every_score = pytest.mark.parametrize(
    "chosen", [*map(ready, OF_MATRIX), effective_sample_size], ids=[*OF_MATRIX, "display"]
)


@every_score
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_plus_infinity_are_refused_by_column_and_draw(chosen, bad):
    matrix = np.full((3, 5), -1.0)
    matrix[2, 3] = matrix[0, 4] = bad
    with pytest.raises(DataError, match=r"column 3\) under draw 2 is (nan|inf)"):
        chosen(matrix)


@every_score
def test_an_input_that_every_draw_rules_out_is_refused_by_column(chosen):
    matrix = np.full((3, 5), -1.0)
    matrix[:, 1] = -np.inf
    with pytest.raises(DataError, match=r"column 1\) has log-likelihood -inf under every draw"):
        chosen(matrix)


@every_score
@pytest.mark.parametrize("shape", [(), (4,), (2, 3, 4)])
def test_other_than_two_dimensions_is_refused(chosen, shape):
    with pytest.raises(DataError, match="draws, inputs"):
        chosen(np.zeros(shape))


@every_score
@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.complex128, bool, object, str])
def test_other_than_floats_is_refused(chosen, dtype):
    with pytest.raises(DataError, match="floating-point"):
        chosen(np.zeros((3, 2)).astype(dtype))


@every_score
def test_no_draws_is_refused(chosen):
    with pytest.raises(DissensusError, match="draw"):
        chosen(np.zeros((0, 4)))


@pytest.mark.parametrize("name", NEEDS_TWO)
def test_disagreement_refuses_a_single_draw(name):
    with pytest.raises(SettingsError, match="disagreement needs at least two draws"):
        ready(name)(np.zeros((1, 4)))


@pytest.mark.parametrize("name", NEEDS_ONE)
def test_likelihood_scores_take_a_single_draw(name):
    assert ready(name)(np.full((1, 4), -2.0)).shape == (4,)


@every_score
def test_no_inputs_give_no_scores(chosen):
    assert chosen(np.zeros((3, 0))).shape == (0,)


@every_score
def test_result_is_float64_and_the_matrix_is_left_alone(chosen):
    matrix = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
    before = matrix.copy()
    result = chosen(matrix)
    assert result.dtype == np.float64
    assert result.shape == (6,)
    np.testing.assert_array_equal(matrix, before)
    np.testing.assert_array_equal(result, chosen(matrix.astype(np.float64)))


@every_score
def test_memory_order_does_not_matter(chosen):
    matrix = np.random.default_rng(0).normal(size=(4, 6))
    np.testing.assert_allclose(chosen(np.asfortranarray(matrix)), chosen(matrix), rtol=1e-14)


@every_score
@pytest.mark.parametrize("finite", [2, 3])
def test_minus_infinity_is_the_limit_of_ever_lower_likelihoods(chosen, finite):
    matrix = np.array([[-5.0], [-4.0], [-6.5], [-4.5]])
    ruled_out, far = matrix.copy(), matrix.copy()
    ruled_out[finite:], far[finite:] = -np.inf, -1e12
    limit = chosen(ruled_out)
    if np.isinf(limit[0]):
        assert limit[0] > 0
        assert chosen(far)[0] > 1e11
    else:
        np.testing.assert_allclose(limit, chosen(far), rtol=1e-12)


@pytest.mark.parametrize("name", ["ess", "kl", "entropy", "std", "mean-ll", "waic"])
def test_a_single_draw_left_scores_plus_infinity(name):
    assert ready(name)(np.array([[-5.0], [-np.inf], [-np.inf]])) == np.inf
