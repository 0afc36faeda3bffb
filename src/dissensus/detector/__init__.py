"""The estimators that tie the stages together, with scikit-learn's contract for outlier detectors."""

from dissensus.detector.apart import Chains
from dissensus.detector.asking import Decisions
from dissensus.detector.bayesian_flow import BayesianFlow
from dissensus.detector.bayesian_vae import BayesianVAE
from dissensus.detector.estimator import Detector
from dissensus.detector.joining import join_chains
from dissensus.detector.learnt import Learnt
from dissensus.detector.measuring import OnProgress

__all__ = [
    "BayesianFlow",
    "BayesianVAE",
    "Chains",
    "Decisions",
    "Detector",
    "Learnt",
    "OnProgress",
    "join_chains",
]
