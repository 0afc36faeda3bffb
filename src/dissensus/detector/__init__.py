"""The estimator that ties the stages together, with scikit-learn's contract for outlier detectors."""

from dissensus.detector.estimator import BayesianVAE, Decisions, OnProgress

__all__ = ["BayesianVAE", "Decisions", "OnProgress"]
