"""PyOD's own interface, through PyOD's own base class."""

import numpy as np
import pytest

from dissensus import BayesianVAE

base = pytest.importorskip("pyod.models.base", reason="PyOD is not installed: make test-integrations")


@pytest.fixture(scope="module")
def detector(inliers, outliers):
    from dissensus.integrations.pyod import PyODDetector

    settings = BayesianVAE(epochs=20, draws=4, samples=4, device="cpu")
    return PyODDetector(contamination=0.05, gate=settings).fit(np.concatenate([inliers, outliers[:5]]))


def test_it_is_a_detector_of_pyod(detector, inliers, outliers):
    assert isinstance(detector, base.BaseDetector)
    assert detector.decision_scores_.shape == detector.labels_.shape == (305,)
    assert detector.labels_.sum() == pytest.approx(0.05 * 305, abs=1)
    assert set(detector.predict(inliers)) <= {0, 1}
    assert detector.predict(outliers).all()


def test_higher_is_more_of_an_outlier(detector, inliers, outliers):
    far, near = detector.decision_function(outliers), detector.decision_function(inliers)
    assert np.median(far) > np.quantile(near, 0.95)
    np.testing.assert_array_equal(far, -detector.gate_.score_samples(outliers))
    assert (far > detector.threshold_).all()


@pytest.mark.parametrize("method", ["linear", "unify"])
def test_probabilities(detector, inliers, outliers, method):
    probabilities = detector.predict_proba(np.concatenate([inliers[:20], outliers]), method=method)
    assert probabilities.shape == (40, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert probabilities[20:, 1].mean() > probabilities[:20, 1].mean()


def test_confidence_and_rejection(detector, inliers, outliers):
    labels, confidence = detector.predict(inliers, return_confidence=True)
    assert labels.shape == confidence.shape == (300,)
    assert ((confidence >= 0) & (confidence <= 1)).all()
    assert set(detector.predict_with_rejection(outliers, c_r=0.1)) <= {-2, 0, 1}


def test_the_settings_are_not_fitted_and_can_be_read(detector):
    from dissensus.integrations.pyod import PyODDetector

    assert not hasattr(detector.gate, "draws_")
    assert detector.get_params(deep=False).keys() == {"contamination", "gate"}
    assert PyODDetector().get_params()["contamination"] == 0.1
    with pytest.raises(ValueError, match="contamination"):
        PyODDetector(contamination=0.7)


def test_pyods_own_evaluation_and_scikit_learns_clone(detector, inliers, outliers):
    from pyod.utils.utility import precision_n_scores
    from sklearn.base import clone

    truth = np.repeat([0, 1], [len(inliers), len(outliers)])
    assert precision_n_scores(truth, detector.decision_function(np.concatenate([inliers, outliers]))) > 0.9
    again = clone(detector)
    assert not hasattr(again, "gate_")
    assert again.contamination == 0.05


def test_scores_and_labels_are_of_the_inputs_in_their_order(detector, inliers, outliers):
    X = np.concatenate([inliers, outliers[:5]])
    np.testing.assert_array_equal(detector.decision_scores_, detector.decision_function(X))
    np.testing.assert_array_equal(detector.labels_, detector.predict(X))
    assert detector.labels_[-5:].all()
    assert detector.threshold_ == np.percentile(detector.decision_scores_, 95)


@pytest.fixture
def short(monkeypatch):
    """A moment's fit, as it comes."""
    from dissensus import schedule

    monkeypatch.setattr(schedule, "LEAST_STEPS", 20)
    monkeypatch.setattr(schedule, "LEAST_EPOCHS", 12)


@pytest.mark.usefixtures("short")
def test_outliers_that_were_left_out_are_labelled_at_their_places(inliers):
    from dissensus.integrations.pyod import PyODDetector

    random = np.random.default_rng(0)
    odd = random.permutation(300) < 30
    mixed = np.where(odd[:, None], inliers.max() + 0.05 * random.normal(size=inliers.shape), inliers)
    found = PyODDetector(contamination=0.1).fit(mixed)
    assert found.gate_.left_out_.train >= 30
    assert found.labels_[odd].mean() >= 0.9
    assert found.labels_[~odd].mean() <= 0.02


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(("share", "left_out"), [(0.1, 0.1), (0.5, None)])
def test_without_a_gate_the_contamination_is_also_left_out_of_the_fit(inliers, share, left_out):
    from dissensus.integrations.pyod import PyODDetector

    detector = PyODDetector(contamination=share).fit(inliers)  # no warning about the gate's own threshold
    found = detector.gate_.left_out_
    assert (None if found is None else found.contamination) == left_out
    assert detector.decision_scores_.shape == (300,)
    assert detector.labels_.mean() == pytest.approx(share, abs=0.01)


def test_a_gate_that_is_given_leaves_nothing_out(detector):
    assert detector.contamination == 0.05
    assert detector.gate_.left_out_ is None
