"""Metrics against scikit-learn and against counting by hand."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from dissensus.errors import DataError, SettingsError
from dissensus.evaluation import auprc, auroc, evaluate, fpr_at_tpr, pr_curve, roc_curve

thorough = settings(derandomize=True, deadline=None, max_examples=100)
# Few distinct values, so that ties are common.
score_lists = st.lists(st.integers(-4, 4).map(lambda k: k / 2), min_size=1, max_size=15)
positive_class = pytest.mark.parametrize("positive", ["in", "out"])


def labels_and_scores(inliers, outliers, positive):
    """The same problem in scikit-learn's terms: labels 1 for positives, higher scores for positives."""
    scores = np.concatenate([inliers, outliers])
    is_out = np.repeat([0, 1], [len(inliers), len(outliers)])
    return (is_out, scores) if positive == "out" else (1 - is_out, -scores)


@thorough
@given(score_lists, score_lists)
def test_auroc_counts_ordered_pairs(inliers, outliers):
    pairs = [(o > i) + 0.5 * (o == i) for i in inliers for o in outliers]
    assert auroc(inliers, outliers) == pytest.approx(np.mean(pairs), rel=1e-14)
    assert auroc(outliers, inliers) == pytest.approx(1.0 - auroc(inliers, outliers), abs=1e-15)


@positive_class
@thorough
@given(score_lists, score_lists)
def test_areas_agree_with_scikit_learn(positive, inliers, outliers):
    labels, scores = labels_and_scores(inliers, outliers, positive)
    assert auroc(inliers, outliers) == pytest.approx(sk.roc_auc_score(labels, scores), rel=1e-12)
    expected = sk.average_precision_score(labels, scores)
    assert auprc(inliers, outliers, positive=positive) == pytest.approx(expected, rel=1e-12)


@positive_class
@thorough
@given(score_lists, score_lists)
def test_curves_agree_with_scikit_learn(positive, inliers, outliers):
    labels, scores = labels_and_scores(inliers, outliers, positive)
    sign = 1.0 if positive == "out" else -1.0

    fpr, tpr, thresholds = sk.roc_curve(labels, scores, drop_intermediate=False)
    roc = roc_curve(inliers, outliers, positive=positive)
    np.testing.assert_allclose(roc.false_positive_rate, fpr, rtol=1e-14)
    np.testing.assert_allclose(roc.true_positive_rate, tpr, rtol=1e-14)
    np.testing.assert_array_equal(roc.thresholds, sign * thresholds)

    precision, recall, thresholds = sk.precision_recall_curve(labels, scores)
    pr = pr_curve(inliers, outliers, positive=positive)
    np.testing.assert_allclose(pr.precision, precision[::-1], rtol=1e-14)
    np.testing.assert_allclose(pr.recall, recall[::-1], rtol=1e-14)
    np.testing.assert_array_equal(pr.thresholds[1:], sign * thresholds[::-1])


@positive_class
@thorough
@given(score_lists, score_lists, st.sampled_from([0.05, 0.2, 0.5, 0.55, 0.7, 0.8, 0.95, 1.0]))
def test_fpr_at_tpr_is_the_best_of_all_thresholds_that_find_enough(positive, inliers, outliers, tpr):
    inlier_array, outlier_array = np.array(inliers), np.array(outliers)
    met = []
    for threshold in {*inliers, *outliers}:
        if positive == "out":
            found, false = (outlier_array >= threshold).mean(), (inlier_array >= threshold).mean()
        else:
            found, false = (inlier_array <= threshold).mean(), (outlier_array <= threshold).mean()
        if found >= tpr:
            met.append(false)
    assert fpr_at_tpr(inliers, outliers, positive=positive, tpr=tpr) == min(met)


def test_fpr_at_tpr_is_not_upset_by_rounding_of_the_share():
    # 0.55 · 100 is 55.000000000000007 in float64, yet 55 of 100 are enough.
    outliers = np.arange(100.0)
    inliers = np.array([44.5, 0.0])
    assert fpr_at_tpr(inliers, outliers, positive="out", tpr=0.55) == 0.0
    assert fpr_at_tpr(inliers, outliers, positive="out", tpr=0.56) == 0.5


def test_the_two_positive_classes_differ():
    inliers = [0.0, 1.0, 2.0, 9.0, 9.5]
    outliers = [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    assert fpr_at_tpr(inliers, outliers, positive="out") == 0.4
    assert fpr_at_tpr(inliers, outliers, positive="in") == 1.0


def test_evaluate_gathers_the_single_metrics():
    rng = np.random.default_rng(0)
    inliers, outliers = rng.normal(size=300).round(1), rng.normal(1.0, 2.0, size=200).round(1)
    assert dataclasses.asdict(evaluate(inliers, outliers)) == {
        "auroc": auroc(inliers, outliers),
        "auprc_in": auprc(inliers, outliers, positive="in"),
        "auprc_out": auprc(inliers, outliers, positive="out"),
        "fpr80_in": fpr_at_tpr(inliers, outliers, positive="in", tpr=0.8),
        "fpr80_out": fpr_at_tpr(inliers, outliers, positive="out", tpr=0.8),
        "fpr95_in": fpr_at_tpr(inliers, outliers, positive="in", tpr=0.95),
        "fpr95_out": fpr_at_tpr(inliers, outliers, positive="out", tpr=0.95),
    }


@thorough
@given(score_lists, score_lists)
def test_every_metric_is_a_plain_float_in_the_unit_interval(inliers, outliers):
    values = dataclasses.astuple(evaluate(inliers, outliers))
    assert all(type(value) is float and 0.0 <= value <= 1.0 for value in values)


@thorough
@given(score_lists, score_lists)
def test_only_the_order_of_the_scores_matters(inliers, outliers):
    stretched = evaluate(np.exp(inliers), np.exp(outliers))
    assert stretched == evaluate(inliers, outliers)


def test_perfect_reversed_and_uninformative_scores():
    perfect = evaluate([0.0, 1.0], [2.0, 3.0, 4.0])
    assert dataclasses.astuple(perfect) == (1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    assert evaluate([2.0, 3.0], [0.0, 1.0]).auroc == 0.0
    constant = evaluate([1.0] * 3, [1.0] * 6)
    assert constant.auroc == 0.5
    assert constant.auprc_in == pytest.approx(1 / 3)
    assert constant.auprc_out == pytest.approx(2 / 3)
    assert constant.fpr80_out == constant.fpr80_in == 1.0


def test_infinite_scores_keep_their_rank():
    assert auroc([0.0, 1.0, -np.inf], [2.0, np.inf, np.inf]) == 1.0
    assert auroc([0.0, np.inf], [np.inf, np.inf]) == 0.75


def test_large_samples_do_not_overflow_and_stay_exact():
    n = 200_000
    assert auroc(np.arange(n), np.arange(n) + n) == 1.0
    assert auroc(np.arange(n), np.arange(n)) == 0.5


@pytest.mark.parametrize("metric", [auroc, evaluate, roc_curve, pr_curve])
def test_bad_scores_are_refused_with_their_side(metric):
    with pytest.raises(DataError, match="inlier score 1 is NaN"):
        metric([0.0, np.nan], [1.0])
    with pytest.raises(DataError, match="outlier scores must be a non-empty vector"):
        metric([0.0], [])
    with pytest.raises(DataError, match=r"outlier scores .* shape \(1, 2\)"):
        metric([0.0], [[1.0, 2.0]])
    with pytest.raises(DataError, match="inlier scores must be numbers"):
        metric(["a"], [1.0])


def test_bad_settings_are_refused():
    with pytest.raises(SettingsError, match="'in' or 'out'"):
        auprc([0.0], [1.0], positive="ood")
    for tpr in (0.0, 1.5, np.nan):
        with pytest.raises(SettingsError, match="tpr"):
            fpr_at_tpr([0.0], [1.0], positive="in", tpr=tpr)
