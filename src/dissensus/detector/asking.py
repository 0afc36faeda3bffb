"""The questions that a fitted detector answers.

This is the only place where the sign flips: inside the package higher means more out-of-distribution, in
scikit-learn's methods higher means more normal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from dissensus.decisions import (
    AdaptiveRate,
    Alternative,
    BatchTest,
    DriftMonitor,
    Exchangeability,
    batch_test,
    benjamini_hochberg,
    check_discoveries_possible,
    check_exchangeable,
    conformal_p_values,
    most_informative,
    weighted_p_values,
)
from dissensus.detector.attributes import FittedAttributes
from dissensus.detector.confirming import traits_of
from dissensus.detector.explaining import as_batch, explain_batch
from dissensus.detector.inputs import scoring_batches
from dissensus.detector.latent_space import latent_space
from dissensus.detector.measuring import OnProgress, every_statistic, likelihoods, scores_of
from dissensus.detector.settings import find_device
from dissensus.detector.streaming import decide_stream
from dissensus.errors import DataError
from dissensus.explain import Explanation
from dissensus.inputs import Prepared, open_stream
from dissensus.latent import LatentSpace
from dissensus.likelihood import LogLikelihoods
from dissensus.models.inputs import to_tensor
from dissensus.outputs import Row
from dissensus.seeding import stream_seed

__all__ = ["Asking", "Decisions"]


class Decisions(NamedTuple):
    """What the detector says about N inputs; unlike in scikit-learn's methods, higher = more unusual."""

    score: NDArray[np.float64]
    """(N,)"""
    p_value: NDArray[np.float64]
    """(N,), conformal: uniform on inputs like the training data."""
    flagged: NDArray[np.bool_]
    """(N,), at the chosen false-alarm rate, or at a false discovery rate where one was asked for."""


class Asking(FittedAttributes):
    """Every question to what a fit has learnt."""

    device: str

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """How normal each input is (N,); higher = more normal."""
        return -self._scores(X)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Distance to the threshold (N,); negative = flagged."""
        scores = self._scores(X)
        with np.errstate(invalid="ignore"):
            distance = self.threshold_ - scores
        # Infinitely strange, and an infinite threshold: nothing can be flagged then.
        return np.where(np.isnan(distance), 0.0, distance)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """+1 for inputs like the training data, −1 for outliers, at the chosen false-alarm rate (N,)."""
        return np.where(self._scores(X) > self.threshold_, -1, 1)

    def p_values(self, X: Any, *, weights: tuple[ArrayLike, ArrayLike] | None = None) -> NDArray[np.float64]:
        """Conformal p-values (N,): uniform on inputs like the training data, small on outliers.

        ``weights`` are for a known shift: how much more frequent each calibration input (n,), in the order of
        ``calibration_scores_``, and each input of ``X`` (N,) is now than among the calibration inputs. These
        inputs are not kept: ``recalibrate(X_normal)`` puts the scores in the order of ``X_normal``.
        """
        scores = self._scores(X)
        if weights is None:
            return conformal_p_values(self.calibration_scores_, scores)
        return weighted_p_values(self.calibration_scores_, scores, *weights)

    def decide(self, X: Any, *, fdr: float | None = None, on_progress: OnProgress | None = None) -> Decisions:
        """Score, p-value and verdict of each input from one pass over the draws.

        With ``fdr``, Benjamini–Hochberg decides over all inputs together: of those flagged, at most this
        share is expected to be normal. Among N inputs it then takes N/(fdr·(n+1)) that score above all n
        calibration inputs before any is flagged.
        """
        check_is_fitted(self)
        if fdr is not None:
            check_discoveries_possible(len(self.calibration_scores_), fdr)
        scores = self._scores(X, on_progress)
        p_values = conformal_p_values(self.calibration_scores_, scores)
        flagged = scores > self.threshold_ if fdr is None else benjamini_hochberg(p_values, fdr).flagged
        return Decisions(scores, p_values, flagged)

    def decide_stream(self, X: Any, *, on_error: Literal["raise", "skip"] = "raise") -> Iterator[Row]:
        """A row for each input of a set that may be larger than memory, or of a pipe of JSON lines.

        Accepts what :meth:`fit` accepts, a ``.jsonl`` file, and a binary file object of JSON lines. An input
        that cannot be scored is an error, or with ``on_error="skip"`` a row that says why.
        """
        check_is_fitted(self)
        for rows in decide_stream(self, open_stream(X, self.preprocessor_), on_error=on_error):
            yield from rows

    def test_batch(self, X: Any, *, alternative: Alternative = "more-unusual") -> BatchTest:
        """Does the batch as a whole come from the training distribution? One p-value for all of ``X``."""
        scores, seed = self._scores(X), stream_seed(self.seed_, "batch test")
        return batch_test(self.calibration_scores_, scores, alternative=alternative, seed=seed)

    def check_exchangeable(
        self, X_recent_normals: Any, *, on_progress: OnProgress | None = None
    ) -> Exchangeability:
        """Do recent inputs known to be normal score as the calibration inputs did? Else, recalibrate.

        The answer has a p-value, which way they are shifted, how many lie above the threshold and how many
        would, and a ``sentence`` that says it with the remedy.
        """
        scores = self._scores(X_recent_normals, on_progress)
        seed = stream_seed(self.seed_, "exchangeability")
        return check_exchangeable(self.calibration_scores_, scores, self.false_alarm_rate, seed=seed)

    def adaptive_rate(self, *, step: float = 0.005) -> AdaptiveRate:
        """A rate for a stream with feedback: the share of false alarms is ``false_alarm_rate`` in the long
        run, whatever the inputs do. Ask it about each of ``p_values``, and tell it what turned out.
        """
        return AdaptiveRate(self.false_alarm_rate, step=step)

    def drift_monitor(
        self, *, false_alarm_probability: float = 0.01, confidence: float = 0.0
    ) -> DriftMonitor:
        """Watches a stream for drift: feed it ``decide(X).score`` of each batch, in order.

        The probability of a false alarm is one on average over calibration sets. With ``confidence`` it holds
        so surely for this gate's own set, and for every restart of the monitor; drift is then seen later.
        """
        check_is_fitted(self)
        return DriftMonitor(
            self.calibration_scores_,
            false_alarm_probability=false_alarm_probability,
            confidence=confidence,
            seed=self.drift_seed,
        )

    @property
    def latent(self) -> LatentSpace:
        """The latent space: codes, decodings, and how much the draws disagree about a point, by gradient."""
        check_is_fitted(self)
        device = find_device(self.device)
        known = getattr(self, "_latent", None)
        if known is None or known[0] is not self.learnt_ or known[1].device != device:
            known = self._latent = (self.learnt_, latent_space(self.learnt_, device))
        space: LatentSpace = known[1]
        return space

    def acquire(self, X_pool: Any, n: int, *, on_progress: OnProgress | None = None) -> NDArray[np.int64]:
        """The places (n,) in ``X_pool`` of the inputs that would teach the posterior most, the best first.

        They are those about which the draws disagree, each in another way than those chosen before it.
        """
        return most_informative(self.log_likelihoods(X_pool, on_progress=on_progress).values, n)

    def known(self, X: Any) -> list[str | None]:
        """Return what was said before of each input (N,), or of one that can hardly be told from it.

        That is "confirmed as an outlier before", "confirmed as normal before", or None (:meth:`confirm`).
        """
        check_is_fitted(self)
        if self.confirmed_ is None:
            return [None] * sum(len(batch) for batch in scoring_batches(self.preprocessor_, X))
        return self.confirmed_.known(self._traits(X))

    @property
    def drift_seed(self) -> int:
        """Of the numbers by which :meth:`drift_monitor` breaks ties."""
        return stream_seed(self.seed_, "drift")

    def log_likelihoods(self, X: Any, *, on_progress: OnProgress | None = None) -> LogLikelihoods:
        """The matrix (M, N) of every draw by K samples, whatever the effort.

        Of some 1.1 million pictures and more on a GPU it is made by compiled code, whose last digits are
        other ones. Scores never are, so that an input's does not depend on what it is asked with.
        """
        check_is_fitted(self)
        array = np.concatenate([batch.array for batch in scoring_batches(self.preprocessor_, X)])
        data = to_tensor(self.preprocessor_.transform(array))
        return likelihoods(
            self.learnt_, data, device=find_device(self.device), on_progress=on_progress, by_size=True
        )

    def statistics(self, X: Any, *, on_progress: OnProgress | None = None) -> dict[str, NDArray[np.float64]]:
        """Every statistic of each input (N,), by name, the detector's own among them.

        Those that the log-likelihoods alone give and, where the score requires others (``"fused"`` does), all
        of these.
        Unlike in scikit-learn's methods, higher = more unusual.
        """
        return self._statistics(X, on_progress, stage="scoring")

    def explain(
        self, X: Any, *, reconstructions: int = 4, neighbours: int = 5
    ) -> Explanation | list[Explanation]:
        """Why an input scores as it does: where the draws disagree, what they see, what is most like it.

        One explanation for a single input (D,), (H, W), (H, W, C) or an image file; a list for anything else.
        """
        check_is_fitted(self)
        batch, single = as_batch(X, self.preprocessor_)
        found = [
            explanation
            for inputs in scoring_batches(self.preprocessor_, batch)
            for explanation in explain_batch(
                self.asked_,
                inputs,
                known=self.known(inputs),
                threshold=self.threshold_,
                reconstructions=reconstructions,
                neighbours=neighbours,
                device=find_device(self.device),
            )
        ]
        return found[0] if single else found

    def _scores(self, X: Any, on_progress: OnProgress | None = None) -> NDArray[np.float64]:
        """Higher = more out-of-distribution (N,)."""
        check_is_fitted(self)
        asked, device = self.asked_, find_device(self.device)

        def scores(batch: Prepared) -> NDArray[np.float64]:
            return scores_of(asked, batch.array, device=device, on_progress=on_progress)

        # By map, which lets go of a batch before it asks for the next.
        return np.concatenate(list(map(scores, scoring_batches(self.preprocessor_, X))))

    def _traits(self, X: Any) -> NDArray[np.float32]:
        """What inputs are recognised by (N, F)."""
        parts = [traits_of(self.preprocessor_, batch) for batch in scoring_batches(self.preprocessor_, X)]
        if not parts:
            raise DataError("X is empty: give at least one input")
        return np.concatenate(parts)

    def _statistics(
        self, X: Any, on_progress: OnProgress | None, stage: str, at: str | None = None
    ) -> dict[str, NDArray[np.float64]]:
        check_is_fitted(self)
        asked, device = self.asked_ if at is None else self.learnt_.at(at), find_device(self.device)

        def made(batch: Prepared) -> dict[str, NDArray[np.float64]]:
            return every_statistic(asked, batch.array, device=device, on_progress=on_progress, stage=stage)

        parts = list(map(made, scoring_batches(self.preprocessor_, X)))  # by map, as above
        if not parts:
            raise DataError("X is empty: give at least one input")
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
