"""scikit-learn's own checks on the detectors as they come, and on a flow with a plain score.

No check is about how well it fits, and together they fit some two hundred times: so fits are short.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from dissensus import BayesianFlow, BayesianVAE, Detector

# Some checks fit on so few rows that no alarm is possible; the detector says so, and rightly.
pytestmark = pytest.mark.filterwarnings("ignore::dissensus.errors.CalibrationWarning")


@parametrize_with_checks(
    [
        BayesianVAE(epochs=2, draws=2),
        BayesianFlow(statistic="kl", epochs=2, draws=2, hidden=(8,)),
        Detector(epochs=2, draws=2),
    ]
)
def test_estimator(estimator, check):
    check(estimator)
