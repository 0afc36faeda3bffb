"""Likelihood less the length under a lossless coder."""

import numpy as np
import pytest

from dissensus.errors import DataError
from dissensus.scores import input_complexity, mean_log_likelihood


def test_it_is_the_likelihood_ratio_to_the_coder():
    matrix = np.random.default_rng(0).normal(-500.0, 10.0, size=(4, 6))
    bits = np.arange(6) * 100.0
    expected = [-np.mean(column) - np.log(2.0**b) for column, b in zip(matrix.T, bits, strict=True)]
    np.testing.assert_allclose(input_complexity(matrix, bits), expected, rtol=1e-12)
    np.testing.assert_array_equal(input_complexity(matrix, np.zeros(6)), mean_log_likelihood(matrix))


@pytest.mark.parametrize("bits", [np.zeros(2), 3.0, np.zeros((3, 1))])
def test_one_length_an_input(bits):
    with pytest.raises(DataError, match="each of the 3 inputs"):
        input_complexity(np.zeros((2, 3)), bits)
