"""The detector as one of PyOD's: outliers score higher, labels are 0 and 1."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from dissensus.detector import Detector
from dissensus.errors import CalibrationWarning

try:
    from pyod.models.base import BaseDetector
except ImportError as error:
    raise ImportError("this adapter needs PyOD: pip install 'dissensus[pyod]'") from error

__all__ = ["PyODDetector"]


class PyODDetector(BaseDetector):  # type: ignore[misc]
    """A :class:`~dissensus.Detector` with PyOD's interface.

    ``contamination`` is PyOD's: the share of the *training* inputs that is labelled 1, which sets
    ``threshold_``. The detector's own promise, a false-alarm rate on new inputs, is kept by ``gate_``.

    Parameters
    ----------
    contamination
        In (0, 0.5], or one of PyOD's thresholders.
    gate
        The settings, as a detector that need not be fitted; it is not changed. ``None`` is a ``Detector()``
        that leaves out the most unusual training inputs, as its ``fit`` does with this ``contamination``,
        if that is a number below 0.5; a gate that is given leaves none out.

    Attributes
    ----------
    gate_ : Detector
        The fitted detector; ``save`` it to keep it.
    decision_scores_ : ndarray (N,)
        The scores of all inputs of the fit, in their order, also of those that were left out.
    threshold_, labels_ : float, ndarray (N,)
        What is above which is an outlier, and 1 for the inputs of the fit that are.
    """

    def __init__(self, contamination: float = 0.1, gate: Detector | None = None) -> None:
        super().__init__(contamination=contamination)
        self.gate = gate

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learns what is normal from ``X``; ``y`` is PyOD's and ignored."""
        self._set_n_classes(y)
        self.gate_ = self._own_gate(X) if self.gate is None else clone(self.gate).fit(X)
        self.decision_scores_ = self.decision_function(X)
        self._process_decision_scores()
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Scores (N,); higher = more of an outlier."""
        check_is_fitted(self, "gate_")
        scores: NDArray[np.float64] = -self.gate_.score_samples(X)
        return scores

    def _own_gate(self, X: Any) -> Detector:
        share = self.contamination
        left_out = share if isinstance(share, int | float) and share < 0.5 else None
        with warnings.catch_warnings():  # about the gate's threshold; here PyOD's decides
            warnings.simplefilter("ignore", CalibrationWarning)
            return Detector().fit(X, contamination=left_out)
