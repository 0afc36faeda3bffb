"""The estimator that ties the stages together, with scikit-learn's contract for outlier detectors.

This is the only place where the sign flips: inside the package higher means more out-of-distribution, in
scikit-learn's methods higher means more normal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from dissensus.artifact import read_artifact, write_artifact
from dissensus.decisions import (
    Alternative,
    BatchTest,
    DriftMonitor,
    FalseAlarmInterval,
    batch_test,
    benjamini_hochberg,
    check_discoveries_possible,
    conformal_p_values,
    conformal_threshold,
    false_alarm_interval,
    rounded,
)
from dissensus.defaults import STATISTIC
from dissensus.detector.calibrating import together, warn_if_mute
from dissensus.detector.explaining import as_batch, explain_batch
from dissensus.detector.hub import fetched, upload
from dissensus.detector.inputs import scoring_batches
from dissensus.detector.measuring import (
    available_statistics,
    every_statistic,
    measure,
    needs_one_a_call,
)
from dissensus.detector.parts import part_fractions
from dissensus.detector.posterior import Posterior, check_posterior, sampling_settings
from dissensus.detector.saving import restore, to_artifact
from dissensus.detector.settings import check_settings, find_device
from dissensus.detector.statistic import OwnScores, Statistic, settled_score
from dissensus.detector.streaming import decide_stream
from dissensus.errors import ArtifactError, DataError, DissensusError, brief
from dissensus.explain import Examples, Explanation
from dissensus.inputs import Prepared, fit_preprocessor, open_stream, split, training_inputs
from dissensus.likelihood import LogLikelihoods, Proposal, log_likelihoods, noise_floor
from dissensus.models import VAE, ObservationModel, build_vae, default_observation, observation
from dissensus.models.inputs import to_tensor
from dissensus.outputs import Row
from dissensus.posterior import EpochReport, claimed_checkpoint, sample_posterior
from dissensus.scores import Score, scored
from dissensus.seeding import stream_seed, torch_stream

__all__ = ["BayesianVAE", "Decisions", "OnProgress"]

OnProgress = Callable[[str, int, int], None]
"""Called with the name of a stage, how much of it is done, and how much there is."""

NOISE_FLOOR_ROWS = 64
LEAST_ROWS = 5


class Decisions(NamedTuple):
    """What the detector says about N inputs; unlike in scikit-learn's methods, higher = more unusual."""

    score: NDArray[np.float64]
    """(N,)"""
    p_value: NDArray[np.float64]
    """(N,), conformal: uniform on inputs like the training data."""
    flagged: NDArray[np.bool_]
    """(N,), at the chosen false-alarm rate, or at a false discovery rate where one was asked for."""


class BayesianVAE(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Finds inputs unlike those it was fitted on, by the disagreement of posterior draws of a VAE.

    Parameters
    ----------
    variant
        1 samples the decoder and optimises an encoder a chain, 2 samples both (the paper's two variants).
    posterior
        How networks are drawn: ``"sghmc"``, ``"cyclical-sghmc"``, ``"sgld"``, ``"ensemble"`` (of as many
        members as there are chains), ``"swag"`` or ``"variational"``; a rule with settings of its own, such
        as ``SWAG(rank=5)``; or whole :class:`~dissensus.SamplingSettings`, beside which ``variant``,
        ``epochs``, ``batch_size`` and ``step_size`` mean nothing.
    statistic
        How disagreement becomes one number: a name from ``dissensus.scores.SCORES``, or an object that is
        a ``dissensus.scores.Score``, of the package or of your own. ``"fused"`` joins disagreement,
        likelihood, encoding, reconstruction and, of images, the length of their code
        (``dissensus.scores.Fused``) to one measure of how few inliers lie as far out.
    false_alarm_rate
        The share of inputs like the training data that :meth:`predict` may flag. It may be changed at any
        time (``set_params``): the threshold follows without another fit.
    observation
        What a pixel or a number is under the model: ``"bernoulli"``, ``"continuous-bernoulli"``,
        ``"gaussian"``, ``"categorical"``, ``"discretised-logistic"`` or an instance; ``"auto"`` is Bernoulli
        for images and Gaussian with a learned scale for vectors.
    latent_size, widths
        Size of the latent space and of the networks' layers; ``None`` chooses by the inputs' shape.
    chains, draws
        How many chains are run, and how many draws M are kept of all of them.
    epochs, batch_size
        ``None`` chooses by the number of rows (``dissensus.schedule``).
    step_size
        ε of the sampler, if the posterior is one by name; it moves about like Adam with a learning rate of
        20 ε².
    samples
        K, the importance samples of each log-likelihood.
    proposal
        Where these samples come from: ``"own"``, the encoder that belongs to a draw, or ``"pooled"``, the
        mixture of all encoders, as the paper writes it for its second variant.
    encoder, decoder
        Networks of your own (``dissensus.models.VAE`` says what they must take and give); both or none.
    resize
        (height, width) that image files are brought to, at fit and at scoring.
    examples
        How many training inputs are kept, and saved, to show those most like an input (:meth:`explain`); 0
        keeps none.
    device
        ``"cpu"``, ``"cuda"``, …; ``"auto"`` takes a GPU where there is one.
    random_state
        Root of all randomness. The same value on the same machine gives the same detector, bit for bit.

    Attributes
    ----------
    draws_ : WeightDraws
        The posterior draws with the sampler's diagnostics.
    vae_ : VAE
        The architecture they belong to.
    statistic_ : str
        The name of the score that was calibrated; another one takes another fit.
    score_ : Score
        That score, with what it has learnt.
    calibration_scores_ : ndarray
        Scores of the inliers that nothing else has seen; thresholds and p-values come from them.
    calibration_statistics_ : dict
        The same for every statistic that :meth:`statistics` gives, by name.
    examples_ : Examples
        Training inputs with their places in latent space.
    threshold_ : float
        What is flagged scores above it; it follows ``false_alarm_rate`` and the calibration scores.
    false_alarm_interval_ : FalseAlarmInterval
        Where the realised false-alarm rate lies with probability 0.9, as so many calibration inputs allow.
    noise_floor_ : float
        How far the log-likelihoods of one draw move by the noise of their estimation alone, in nats.
    one_a_call_ : bool
        Whether inputs go through the networks one by one, because on this machine a row's last bits would
        depend on its place among others: the same input gets the same score, at some cost in time.
    fitted_rows_ : dict
        How many inputs went into which part: train, validation and calibration.
    preprocessor_ : Preprocessor
        How an input becomes what the networks read: its kind, shape, columns and scales.
    n_features_in_ : int
        Numbers in one input, or columns of a table.
    feature_names_in_ : ndarray
        Names of a table's columns, if it was fitted on a frame or a file of them.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(300, 3))
    >>> gate = BayesianVAE(epochs=20, draws=4).fit(rows)
    >>> gate.predict([[0.1, -0.2, 0.3], [90.0, 90.0, -90.0]]).tolist()
    [1, -1]
    """

    def __init__(
        self,
        *,
        variant: int = 1,
        posterior: Posterior = "sghmc",
        statistic: Statistic = STATISTIC,
        false_alarm_rate: float = 0.05,
        observation: str | ObservationModel = "auto",
        latent_size: int | None = None,
        widths: Sequence[int] | None = None,
        chains: int = 2,
        draws: int = 20,
        epochs: int | None = None,
        batch_size: int | None = None,
        step_size: float = 1e-2,
        samples: int = 16,
        proposal: Proposal = "own",
        encoder: nn.Module | None = None,
        decoder: nn.Module | None = None,
        resize: tuple[int, int] | None = None,
        examples: int = 512,
        device: str = "auto",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.variant = variant
        self.posterior = posterior
        self.statistic = statistic
        self.false_alarm_rate = false_alarm_rate
        self.observation = observation
        self.latent_size = latent_size
        self.widths = widths
        self.chains = chains
        self.draws = draws
        self.epochs = epochs
        self.batch_size = batch_size
        self.step_size = step_size
        self.samples = samples
        self.proposal = proposal
        self.encoder = encoder
        self.decoder = decoder
        self.resize = resize
        self.examples = examples
        self.device = device
        self.random_state = random_state

    # ---- fitting

    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002 scikit-learn passes it to every estimator
        *,
        checkpoint: str | Path | None = None,
        on_progress: OnProgress | None = None,
    ) -> Self:
        """Learns what is normal from ``X`` without labels.

        ``X`` is an array or tensor (N, D), (N, H, W) or (N, H, W, C), a frame of pandas, polars or pyarrow,
        an :class:`ImageFolder`, a :class:`TableFile`, a path to a folder or file (images, arrays, ``.csv``
        and ``.parquet`` tables), a pattern such as ``"photos/*.png"``, or the name of a dataset. All other
        methods take the same. Columns of frames and tables may hold numbers, names, truth values, dates and
        missing values, and are found by name (:class:`~dissensus.inputs.TableEncoder`).

        ``checkpoint`` is a folder where an interrupted fit goes on; a folder that another process is using
        is refused at once.
        """
        check_settings(self)
        check_posterior(self)
        with claimed_checkpoint(checkpoint):
            self._fit(X, checkpoint, on_progress)
        warn_if_mute(self)
        return self

    def _fit(self, X: Any, checkpoint: str | Path | None, on_progress: OnProgress | None) -> None:
        self._forget()
        inputs = training_inputs(X, resize=self.resize)
        if len(inputs) < LEAST_ROWS:
            raise DataError(
                f"X holds too few rows (n_samples={len(inputs)}): give at least {LEAST_ROWS}, and better "
                "hundreds"
            )
        seed = self._root_seed()
        rows = split(len(inputs), part_fractions(len(inputs)), seed=seed)
        settings = sampling_settings(self, len(rows["train"]))
        self.preprocessor_, array = fit_preprocessor(inputs, rows["train"], resize=self.resize, stacklevel=4)
        self._set_feature_names()
        self.fitted_rows_ = {name: len(index) for name, index in rows.items()}
        parts = {name: to_tensor(self._standardised(array[index])) for name, index in rows.items()}
        self.seed_ = seed
        self.vae_ = self._build(tuple(parts["train"].shape[1:]), seed)
        several = settings.inference is None and settings.draws > settings.chains
        score = settled_score(
            self.statistic,
            available_statistics(self.vae_, self.preprocessor_.shape, several=several),
            draws=settings.draws,
            inliers=len(rows["validation"]),
        )

        def on_epoch(reports: Sequence[EpochReport]) -> None:
            if on_progress is not None:
                on_progress("sampling", reports[0].epoch, settings.epochs)

        self.draws_ = sample_posterior(
            self.vae_,
            self._learnt(parts["train"]).to(find_device(self.device)),
            settings,
            seed=seed,
            held_out=self._learnt(parts["validation"]),
            checkpoint=checkpoint,
            on_epoch=on_epoch,
        )
        self.examples_ = Examples.choose(
            array[rows["train"]],
            parts["train"],
            self.vae_,
            self.draws_,
            count=int(self.examples),
            seed=seed,
            device=find_device(self.device),
        )
        self._calibrate(score, array[rows["validation"]], array[rows["calibration"]], on_progress)

    def _forget(self) -> None:
        """Removes what an earlier fit learnt: half of it beside half of a new fit would score wrongly."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def _calibrate(
        self,
        score: Score,
        validation: NDArray[Any],
        calibration: NDArray[Any],
        on_progress: OnProgress | None,
    ) -> None:
        """Fits the score on the one part and scores the other, which no other step has seen."""
        self.one_a_call_ = needs_one_a_call(self)
        self.noise_floor_ = noise_floor(
            self.vae_,
            self.draws_,
            to_tensor(self._standardised(validation[:NOISE_FLOOR_ROWS])),
            samples=self.samples,
            seed=self.seed_,
            device=find_device(self.device),
        )
        self.statistic_, self.score_ = score.name, score
        if score.learns:
            score.fit(measure(self, validation))
        self.calibration_statistics_ = every_statistic(
            self, calibration, on_progress=on_progress, stage="calibrating"
        )
        self.calibration_scores_ = self.calibration_statistics_[self.statistic_]

    def recalibrate(self, X: Any, *, keep: bool = False, on_progress: OnProgress | None = None) -> Self:
        """Takes new inliers ``X``, which :meth:`fit` has not seen, as calibration inputs; no draw changes.

        After a drift that is to be called normal, or to afford a lower false-alarm rate. They replace the
        old ones, or with ``keep`` join them. P-values and threshold are as good as ``X`` is free of outliers.
        """
        found = self._statistics(X, on_progress, stage="calibrating")
        self.calibration_statistics_ = together(self.calibration_statistics_, found) if keep else found
        self.calibration_scores_ = self.calibration_statistics_[self.statistic_]
        warn_if_mute(self)
        return self

    # These follow from the calibration scores and false_alarm_rate, which a person may change after a fit.

    @property
    def threshold_(self) -> float:
        """What is flagged scores above it."""
        return conformal_threshold(self.calibration_scores_, self.false_alarm_rate)

    @property
    def offset_(self) -> float:
        """scikit-learn's name for it: ``decision_function`` is ``score_samples`` less this."""
        return -self.threshold_

    @property
    def false_alarm_interval_(self) -> FalseAlarmInterval:
        """Where the realised false-alarm rate lies with probability 0.9."""
        return false_alarm_interval(len(self.calibration_scores_), self.false_alarm_rate)

    # ---- asking

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

    def p_values(self, X: Any) -> NDArray[np.float64]:
        """Conformal p-values (N,): uniform on inputs like the training data, small on outliers."""
        scores = self._scores(X)
        return conformal_p_values(self.calibration_scores_, scores)

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

        Taken is what :meth:`fit` takes, a ``.jsonl`` file, and a binary file object of JSON lines. An input
        that cannot be scored is an error, or with ``on_error="skip"`` a row that says why.
        """
        check_is_fitted(self)
        for rows in decide_stream(self, open_stream(X, self.preprocessor_), on_error=on_error):
            yield from rows

    def test_batch(self, X: Any, *, alternative: Alternative = "more-unusual") -> BatchTest:
        """Does the batch as a whole come from the training distribution? One p-value for all of ``X``."""
        scores, seed = self._scores(X), stream_seed(self.seed_, "batch test")
        return batch_test(self.calibration_scores_, scores, alternative=alternative, seed=seed)

    def drift_monitor(self, *, false_alarm_probability: float = 0.01) -> DriftMonitor:
        """Watches a stream for drift: feed it ``decide(X).score`` of each batch, in order."""
        check_is_fitted(self)
        return DriftMonitor(
            self.calibration_scores_,
            false_alarm_probability=false_alarm_probability,
            seed=stream_seed(self.seed_, "drift"),
        )

    def log_likelihoods(self, X: Any, *, on_progress: OnProgress | None = None) -> LogLikelihoods:
        """The matrix (M, N) that all scores are made from."""
        check_is_fitted(self)
        array = np.concatenate([batch.array for batch in self._batches(X)])
        return self._likelihoods(to_tensor(self._standardised(array)), on_progress=on_progress)

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
        shown = {"reconstructions": reconstructions, "neighbours": neighbours}
        found = [e for inputs in self._batches(batch) for e in explain_batch(self, inputs, **shown)]
        return found[0] if single else found

    def _scores(self, X: Any, on_progress: OnProgress | None = None) -> NDArray[np.float64]:
        """Higher = more out-of-distribution (N,)."""
        check_is_fitted(self)

        def scores(batch: Prepared) -> NDArray[np.float64]:
            return rounded(scored(self.score_, measure(self, batch.array, on_progress=on_progress)))

        # By map, which lets go of a batch before it asks for the next.
        return np.concatenate(list(map(scores, self._batches(X))))

    def _statistics(
        self, X: Any, on_progress: OnProgress | None, stage: str
    ) -> dict[str, NDArray[np.float64]]:
        check_is_fitted(self)

        def made(batch: Prepared) -> dict[str, NDArray[np.float64]]:
            return every_statistic(self, batch.array, on_progress=on_progress, stage=stage)

        parts = list(map(made, self._batches(X)))  # by map, as above
        if not parts:
            raise DataError("X is empty: give at least one input")
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    # ---- keeping

    def save(self, folder: str | Path) -> None:
        """Writes the fitted detector to a folder of JSON and safetensors; an older one there is replaced."""
        check_is_fitted(self)
        write_artifact(folder, to_artifact(self))

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        device: str = "auto",
        encoder: nn.Module | None = None,
        decoder: nn.Module | None = None,
        statistic: OwnScores = None,
    ) -> BayesianVAE:
        """Reads a detector that :meth:`save` wrote; networks and a score of your own must be passed again.

        ``statistic`` is that score, as an object or its class, or several, of which the detector takes its
        own: a file is never asked what to import.
        """
        find_device(device)
        artifact = read_artifact(folder)
        try:
            gate = restore(
                cls, artifact, device=device, encoder=encoder, decoder=decoder, statistic=statistic
            )
        except DissensusError as error:
            raise ArtifactError(f"{folder} cannot be loaded: {brief(error)}") from error
        except Exception as error:  # whoever wrote the files may have written anything
            raise ArtifactError(f"{folder} is no whole detector ({brief(error)}): save it anew") from error
        warn_if_mute(gate)
        return gate

    def save_pretrained(self, folder: str | Path) -> None:
        """The same as :meth:`save`, under the name that model hubs use."""
        self.save(folder)

    @classmethod
    def from_pretrained(
        cls,
        source: str | Path,
        *,
        revision: str | None = None,
        device: str = "auto",
        statistic: OwnScores = None,
    ) -> BayesianVAE:
        """Reads a folder, or else the repository of that id on the Hugging Face Hub (extra ``hub``)."""
        return cls.load(fetched(source, revision=revision), device=device, statistic=statistic)

    def push_to_hub(self, repo_id: str, *, private: bool | None = None, message: str | None = None) -> str:
        """Uploads the detector to the Hugging Face Hub (extra ``hub``) and returns the commit's address."""
        check_is_fitted(self)
        return upload(self.save, repo_id, private=private, message=message)

    # ---- the stages' arguments

    def _build(self, shape: tuple[int, ...], seed: int) -> VAE:
        model: str | ObservationModel = self.observation
        if model == "auto":
            model = default_observation(shape)
        clip = self.preprocessor_.clip
        if self.encoder is not None and self.decoder is not None and self.latent_size is not None:
            return VAE(self.encoder, self.decoder, observation(model), shape, self.latent_size, clip=clip)
        return build_vae(
            shape,
            latent_size=self.latent_size,
            observation=model,
            widths=self.widths,
            clip=clip,
            generator=torch_stream(seed, "architecture"),
        )

    def _likelihoods(
        self, data: Tensor, *, on_progress: OnProgress | None = None, stage: str = "scoring"
    ) -> LogLikelihoods:
        done, total = 0, len(self.draws_) * len(data)

        def on_tile(pairs: int) -> None:
            nonlocal done
            done += pairs
            if on_progress is not None:
                on_progress(stage, done, total)

        return log_likelihoods(
            self.vae_,
            self.draws_,
            data,
            samples=self.samples,
            seed=self.seed_,
            device=find_device(self.device),
            on_tile=on_tile,
            one_a_call=self.one_a_call_,
            proposal=self.proposal,
        )

    def _root_seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        if self.random_state is None:  # scikit-learn's own answer would move NumPy's global state
            return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1)
        return stream_seed(int(check_random_state(self.random_state).randint(2**31 - 1)))

    def _batches(self, X: Any) -> Iterator[Prepared]:
        """Checked inputs, a folder's a batch at a time."""
        return scoring_batches(self.preprocessor_, X)

    def _standardised(self, array: NDArray[Any]) -> NDArray[Any]:
        return self.preprocessor_.transform(array)

    def _learnt(self, data: Tensor) -> Tensor:
        """What the chains are trained on: rows are cut off, lest one absurd value runs away with a chain."""
        clip = self.preprocessor_.clip
        return data if clip is None else data.clamp(-clip, clip)

    def _set_feature_names(self) -> None:
        """scikit-learn's names for what the preprocessor knows."""
        self.n_features_in_ = self.preprocessor_.n_features
        if self.preprocessor_.feature_names is not None:
            self.feature_names_in_ = np.array(self.preprocessor_.feature_names, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "calibration_scores_")  # what fit sets last

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags
