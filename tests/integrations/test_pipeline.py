"""Behind a scaler in scikit-learn's pipeline."""

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler


def test_a_pipeline_with_a_scaler(unfitted, inliers, outliers):
    pipeline = Pipeline([("scaler", StandardScaler()), ("gate", unfitted)]).fit(inliers * 1e6 + 3)
    assert (pipeline.predict(outliers * 1e6 + 3) == -1).all()
    assert (pipeline.predict(inliers * 1e6 + 3) == 1).mean() > 0.8
    assert pipeline.score_samples(inliers).shape == pipeline.decision_function(inliers).shape == (300,)
    expected = pipeline["gate"].score_samples(pipeline["scaler"].transform(outliers))
    np.testing.assert_array_equal(pipeline.score_samples(outliers), expected)


def test_a_pipeline_is_cloned_and_set_up_by_name(unfitted, inliers):
    pipeline = clone(make_pipeline(MinMaxScaler(), unfitted))
    pipeline.set_params(bayesianvae__false_alarm_rate=0.3, bayesianvae__draws=2).fit(inliers)
    assert len(pipeline[-1].draws_) == 2
    assert pipeline[-1].false_alarm_rate == 0.3
    assert 0.1 < (pipeline.predict(inliers) == -1).mean() < 0.6
