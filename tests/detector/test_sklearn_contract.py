"""scikit-learn's own checks, all of them, on the detector as it comes and on the one that fuses."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from dissensus import BayesianVAE

# Some checks fit on so few rows that no alarm is possible; the detector says so, and rightly.
pytestmark = pytest.mark.filterwarnings("ignore::dissensus.errors.CalibrationWarning")


@parametrize_with_checks([BayesianVAE(), BayesianVAE(statistic="fused", epochs=3, draws=4, samples=4)])
def test_estimator(estimator, check):
    check(estimator)
