"""scikit-learn's own checks on the detectors as they come, on a plain score, and on a flow."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from dissensus import BayesianFlow, BayesianVAE, Detector, schedule

# Some checks fit on so few rows that no alarm is possible; the detector says so, and rightly.
pytestmark = pytest.mark.filterwarnings("ignore::dissensus.errors.CalibrationWarning")


@pytest.fixture(autouse=True)
def short_schedule(monkeypatch):
    """No check is about how well it fits, and together they fit some two hundred times."""
    monkeypatch.setattr(schedule, "LEAST_EPOCHS", 10)
    monkeypatch.setattr(schedule, "LEAST_STEPS", 1)


@parametrize_with_checks(
    [
        BayesianVAE(),
        BayesianVAE(statistic="kl", epochs=3, draws=4, samples=4),
        BayesianFlow(epochs=3, draws=2, hidden=(8,)),
        Detector(epochs=2, draws=2),
    ]
)
def test_estimator(estimator, check):
    check(estimator)
