"""The estimator that ties the stages together, with scikit-learn's contract for outlier detectors.

This is the only place where the sign flips: inside the package higher means more out-of-distribution, in
scikit-learn's methods higher means more normal.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor, nn

from dissensus._version import __version__
from dissensus.artifact import Artifact, read_artifact, write_artifact
from dissensus.data import Dataset, ImageFolder, check_images, image_suffixes, open_inputs, split
from dissensus.data.standardiser import Standardiser
from dissensus.decisions import conformal_p_values, conformal_threshold, least_calibration_size
from dissensus.errors import ArtifactError, CalibrationWarning, DataError, SettingsError
from dissensus.likelihood import LogLikelihoods, log_likelihoods, noise_floor
from dissensus.models import (
    VAE,
    ObservationModel,
    architecture_config,
    build_vae,
    observation,
    observation_from_config,
    vae_from_config,
)
from dissensus.models.inputs import to_tensor
from dissensus.posterior import SGHMC, EpochReport, SamplingSettings, sample_posterior
from dissensus.schedule import default_batch_size, default_epochs, kept_epochs
from dissensus.scores import SCORES, FittedScore, Score, score
from dissensus.seeding import stream_seed, torch_stream

__all__ = ["BayesianVAE", "OnProgress"]

OnProgress = Callable[[str, int, int], None]
"""Called with the name of a stage, how much of it is done, and how much there is."""

LEAST_ROWS = 5
FOLDER_BATCH = 1024  # pictures of a folder that are in memory at once while scoring
NOISE_FLOOR_ROWS = 64
LEAST_SCALE = 0.1  # of standardised columns: finer than a tenth of a deviation is no structure worth chasing


class BayesianVAE(OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Finds inputs unlike those it was fitted on, by the disagreement of posterior draws of a VAE.

    Parameters
    ----------
    variant
        1 samples the decoder and optimises an encoder a chain, 2 samples both (the paper's two variants).
    statistic
        How disagreement becomes one number: a name from ``dissensus.scores.SCORES``.
    false_alarm_rate
        The share of inputs like the training data that :meth:`predict` may flag.
    observation
        What a pixel or a number is under the model: ``"bernoulli"``, ``"continuous-bernoulli"``, ``"gaussian"``,
        ``"categorical"``, ``"discretised-logistic"`` or an instance; ``"auto"`` is Bernoulli for images and
        Gaussian with a learned scale for vectors.
    latent_size, widths
        Size of the latent space and of the networks' layers; ``None`` chooses by the inputs' shape.
    chains, draws
        How many chains are run, and how many draws M are kept of all of them.
    epochs, batch_size
        ``None`` chooses by the number of rows (``dissensus.schedule``).
    step_size
        ε of the sampler; it moves about like Adam with a learning rate of 20 ε².
    samples
        K, the importance samples of each log-likelihood.
    encoder, decoder
        Networks of your own (``dissensus.models.VAE`` says what they must take and give); both or none.
    resize
        (height, width) that image files are brought to, at fit and at scoring.
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
    calibration_scores_ : ndarray
        Scores of the inliers that nothing else has seen; thresholds and p-values come from them.
    threshold_ : float
        What is flagged scores above it.
    noise_floor_ : float
        How far the log-likelihoods of one draw move by the noise of their estimation alone, in nats.
    n_features_in_ : int
        Numbers in one input.

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
        statistic: str = "kl",
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
        encoder: nn.Module | None = None,
        decoder: nn.Module | None = None,
        resize: tuple[int, int] | None = None,
        device: str = "auto",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.variant = variant
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
        self.encoder = encoder
        self.decoder = decoder
        self.resize = resize
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

        ``X`` is an array or tensor (N, D), (N, H, W) or (N, H, W, C), an :class:`ImageFolder`, a path to a folder
        or file, or the name of a dataset. ``checkpoint`` is a folder that lets an interrupted fit go on.
        """
        self._check_settings()
        array = self._training_array(X)
        seed = self._root_seed()
        rows = split(len(array), _fractions(len(array)), seed=seed)
        self.standardiser_ = Standardiser.fit(array[rows["train"]]) if array.ndim == 2 else None
        self.input_shape_ = array.shape[1:]
        parts = {name: to_tensor(self._standardised(array[index])) for name, index in rows.items()}
        self.seed_ = seed
        self.vae_ = self._build(tuple(parts["train"].shape[1:]), seed)
        settings = self._sampling_settings(len(rows["train"]))

        def on_epoch(reports: Sequence[EpochReport]) -> None:
            if on_progress is not None:
                on_progress("sampling", reports[0].epoch, settings.epochs)

        self.draws_ = sample_posterior(
            self.vae_,
            parts["train"].to(self._device()),
            settings,
            seed=seed,
            held_out=parts["validation"],
            checkpoint=checkpoint,
            on_epoch=on_epoch,
        )
        self._calibrate(parts["validation"], parts["calibration"], on_progress)
        return self

    def _calibrate(self, validation: Tensor, calibration: Tensor, on_progress: OnProgress | None) -> None:
        """Fits the score on the one part and takes the threshold from the other, which no other step has seen."""
        self.noise_floor_ = noise_floor(
            self.vae_, self.draws_, validation[:NOISE_FLOOR_ROWS], samples=self.samples, seed=self.seed_
        )
        self.score_ = score(self.statistic)
        if isinstance(self.score_, FittedScore):
            self.score_.fit(self._likelihoods(validation).values)
        matrix = self._likelihoods(calibration, on_progress=on_progress, stage="calibrating")
        self.calibration_scores_ = self.score_(matrix.values)
        self._set_threshold()

    def _set_threshold(self) -> None:
        self.threshold_ = conformal_threshold(self.calibration_scores_, self.false_alarm_rate)
        self.offset_ = -self.threshold_
        if not np.isfinite(self.threshold_):
            needed = least_calibration_size(self.false_alarm_rate)
            warnings.warn(
                f"false_alarm_rate={self.false_alarm_rate} takes {needed} calibration rows and there are "
                f"{len(self.calibration_scores_)}, so nothing will be flagged: give more rows or a higher rate",
                CalibrationWarning,
                stacklevel=4,
            )

    # ---- asking

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """How normal each input is (N,); higher = more normal."""
        return -self._scores(X)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Distance to the threshold (N,); negative = flagged."""
        scores = self._scores(X)
        # Two infinities would give NaN: an input infinitely strange is flagged unless nothing can be.
        return np.where(np.isposinf(scores) & np.isfinite(self.threshold_), -np.inf, self.threshold_ - scores)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """+1 for inputs like the training data, −1 for outliers, at the chosen false-alarm rate (N,)."""
        return np.where(self._scores(X) > self.threshold_, -1, 1)

    def p_values(self, X: Any) -> NDArray[np.float64]:
        """Conformal p-values (N,): uniform on inputs like the training data, small on outliers."""
        return conformal_p_values(self.calibration_scores_, self._scores(X))

    def log_likelihoods(self, X: Any, *, on_progress: OnProgress | None = None) -> LogLikelihoods:
        """The matrix (M, N) that all scores are made from."""
        check_is_fitted(self)
        array = np.concatenate(list(self._checked_batches(X)))
        return self._likelihoods(to_tensor(self._standardised(array)), on_progress=on_progress)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Higher = more out-of-distribution (N,)."""
        check_is_fitted(self)
        scores = [
            self.score_(self._likelihoods(to_tensor(self._standardised(batch))).values)
            for batch in self._checked_batches(X)
        ]
        return np.concatenate(scores)

    # ---- keeping

    def save(self, folder: str | Path) -> None:
        """Writes the fitted detector to a folder of JSON and safetensors; an older one there is replaced."""
        check_is_fitted(self)
        calibration = {"scores": self.calibration_scores_}
        if isinstance(self.score_, FittedScore):
            calibration |= {f"score/{name}": array for name, array in self.score_.state().items()}
        if self.standardiser_ is not None:
            calibration |= {"mean": self.standardiser_.mean, "scale": self.standardiser_.scale}
        config = {
            "version": __version__,
            "settings": self._saved_settings(),
            "model": architecture_config(self.vae_),
            "input_shape": list(self.input_shape_),
            "features": self.n_features_in_,
            "feature_names": getattr(self, "feature_names_in_", np.array([])).tolist(),
            "seed": self.seed_,
            "noise_floor": self.noise_floor_,
        }
        write_artifact(folder, Artifact(config, self.draws_, calibration))

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        device: str = "auto",
        encoder: nn.Module | None = None,
        decoder: nn.Module | None = None,
    ) -> BayesianVAE:
        """Reads a detector that :meth:`save` wrote; networks of your own have to be passed again."""
        artifact = read_artifact(folder)
        config, arrays = artifact.config, artifact.calibration
        try:
            settings = dict(config["settings"])
            for pair in ("widths", "resize"):
                settings[pair] = None if settings[pair] is None else tuple(settings[pair])
            if isinstance(settings["observation"], dict):
                settings["observation"] = observation_from_config(settings["observation"])
            gate = cls(**settings, device=device, encoder=encoder, decoder=decoder)
            gate.vae_ = vae_from_config(config["model"], encoder=encoder, decoder=decoder)
            gate.draws_ = artifact.draws
            gate.input_shape_ = tuple(config["input_shape"])
            gate.n_features_in_ = config["features"]
            if config["feature_names"]:
                gate.feature_names_in_ = np.array(config["feature_names"], dtype=object)
            gate.seed_, gate.noise_floor_ = config["seed"], config["noise_floor"]
            gate.standardiser_ = Standardiser(arrays["mean"], arrays["scale"]) if "mean" in arrays else None
            gate.score_ = score(gate.statistic)
            if isinstance(gate.score_, FittedScore):
                state = {n.removeprefix("score/"): a for n, a in arrays.items() if n.startswith("score/")}
                gate.score_.restore(state)
            gate.calibration_scores_ = arrays["scores"]
        except (KeyError, TypeError) as error:
            raise ArtifactError(f"{folder} lacks a part of a detector ({error}): save it anew") from error
        gate._set_threshold()
        return gate

    # ---- the stages' arguments

    def _check_settings(self) -> None:
        """Refuses what cannot work before any work is done."""
        if self.variant not in (1, 2):
            raise SettingsError(f"variant must be 1 or 2, got {self.variant!r}")
        score(self.statistic)
        if self.draws < SCORES[self.statistic].least_draws:
            raise SettingsError(f"the statistic {self.statistic!r} needs at least two draws, got draws={self.draws}")
        if self.chains < 1 or self.draws % self.chains:
            raise SettingsError(f"draws={self.draws} must be a multiple of chains={self.chains}")
        if not 0 < self.false_alarm_rate < 1:
            raise SettingsError(f"false_alarm_rate must lie between 0 and 1, got {self.false_alarm_rate}")
        if (self.encoder is None) != (self.decoder is None):
            raise SettingsError("encoder and decoder belong together: pass both or none")
        if self.encoder is not None and self.latent_size is None:
            raise SettingsError("latent_size must be given with networks of your own")

    def _sampling_settings(self, training_size: int) -> SamplingSettings:
        batch_size = self.batch_size or default_batch_size(training_size)
        epochs = self.epochs or default_epochs(training_size, batch_size)
        burn_in, thinning = kept_epochs(epochs, self.draws // self.chains)
        variant = SamplingSettings.variant_1 if self.variant == 1 else SamplingSettings.variant_2
        return variant(
            SGHMC(step_size=self.step_size),
            epochs=epochs,
            burn_in=burn_in,
            thinning=thinning,
            chains=self.chains,
            batch_size=batch_size,
        )

    def _build(self, shape: tuple[int, ...], seed: int) -> VAE:
        model: str | ObservationModel = self.observation
        if model == "auto":
            model = "bernoulli" if len(shape) == 3 else observation("gaussian", scale=None, floor=LEAST_SCALE)
        if self.encoder is not None and self.decoder is not None and self.latent_size is not None:
            return VAE(self.encoder, self.decoder, observation(model), shape, self.latent_size)
        return build_vae(
            shape,
            latent_size=self.latent_size,
            observation=model,
            widths=self.widths,
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
            device=self._device(),
            on_tile=on_tile,
        )

    def _device(self) -> torch.device:
        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return torch.device(self.device)

    def _root_seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return stream_seed(int(check_random_state(self.random_state).randint(2**31 - 1)))

    # ---- inputs

    def _training_array(self, X: Any) -> NDArray[Any]:
        inputs = self._opened(X)
        array = inputs.load() if isinstance(inputs, ImageFolder) else inputs
        array = self._checked(array, reset=True)
        if len(array) < LEAST_ROWS:
            raise DataError(
                f"X has {len(array)} rows (n_samples={len(array)}), and a detector is fitted on at least {LEAST_ROWS}"
            )
        return array

    def _checked_batches(self, X: Any) -> Iterator[NDArray[Any]]:
        """Arrays that fit the detector; a folder is read a batch at a time."""
        inputs = self._opened(X)
        if isinstance(inputs, ImageFolder):
            for _, pictures in inputs.batches(FOLDER_BATCH):
                yield self._checked(pictures, reset=False)
        else:
            yield self._checked(inputs, reset=False)

    def _opened(self, X: Any) -> Any:
        """Whatever stands for inputs, opened; tables and arrays are left to scikit-learn's own check."""
        if isinstance(X, str | Path):
            pictures = Path(X).is_dir() or Path(X).suffix.lower() in image_suffixes()
            return open_inputs(X, size=self.resize if pictures else None)
        if isinstance(X, ImageFolder | Dataset | Tensor):
            return open_inputs(X)
        return X

    def _checked(self, X: Any, *, reset: bool) -> NDArray[Any]:
        """Rows (N, D) of finite float64 or images (N, H, W, C), of the shape the detector knows."""
        if _dimensions(X) > 2:
            expected = None if reset else self.input_shape_
            if expected is not None and len(expected) == 1:
                raise DataError(f"X has shape {np.shape(X)}, and this detector takes rows of {expected[0]} numbers")
            images = check_images(X, expected=expected)
            self.n_features_in_ = int(np.prod(images.shape[1:]))
            return images
        if not reset and len(self.input_shape_) == 3:
            height, width, channels = self.input_shape_
            raise DataError(
                f"X has shape {np.shape(X)}, and this detector takes images (N, {height}, {width}, {channels})"
            )
        rows: NDArray[np.float64] = validate_data(self, X, reset=reset, dtype=np.float64)
        return rows

    def _standardised(self, array: NDArray[Any]) -> NDArray[Any]:
        return array if self.standardiser_ is None else self.standardiser_(array)

    def _saved_settings(self) -> dict[str, Any]:
        """The constructor's arguments that mean something on another machine, as JSON values."""
        settings = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name not in ("device", "encoder", "decoder", "observation", "random_state")
        }
        model = self.observation if isinstance(self.observation, str) else self.observation.to_config()
        return {**settings, "random_state": self.seed_, "observation": model}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


def _dimensions(X: Any) -> int:
    """Axes of an array or of nested lists; whatever else there is, scikit-learn's check takes as a table."""
    return np.ndim(X) if isinstance(X, list | tuple) else getattr(X, "ndim", 2)


def _fractions(rows: int) -> dict[str, float]:
    """A twentieth for validation and three for calibration, at least a row each; the rest for training."""
    validation, calibration = max(1, rows // 20), max(1, 3 * rows // 20)
    training = rows - validation - calibration
    return {"train": training / rows, "validation": validation / rows, "calibration": calibration / rows}
