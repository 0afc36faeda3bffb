"""The estimator that ties the stages together, with scikit-learn's contract for outlier detectors."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from dissensus.defaults import EFFORT, STATISTIC
from dissensus.detector.apart import Chains, run_chains
from dissensus.detector.asking import Asking
from dissensus.detector.bounded import learn_within_memory
from dissensus.detector.calibrating import confirm, together, warn_if_mute, warn_if_outliers_rule
from dissensus.detector.confirming import Confirmation
from dissensus.detector.describing import warn_if_unsound
from dissensus.detector.fitting import learn
from dissensus.detector.keeping import Keeping
from dissensus.detector.learnt import Learnt
from dissensus.detector.logged import logged
from dissensus.detector.measuring import OnProgress
from dissensus.detector.plan import Plan
from dissensus.detector.posterior import Posterior
from dissensus.detector.sampling import check_posterior, sampling_settings, settled
from dissensus.detector.settings import check_contamination, check_settings, find_device, root_seed
from dissensus.detector.showing import Shown
from dissensus.detector.statistic import Statistic
from dissensus.inputs import Vocabulary
from dissensus.likelihood import Proposal
from dissensus.memory import parse_memory
from dissensus.models import (
    AUTO,
    GenerativeModel,
    Model,
    Recommended,
    Sequences,
    build_model,
    check_model,
    recommended_for,
)
from dissensus.posterior import claimed_checkpoint
from dissensus.seeding import torch_stream

__all__ = ["Detector"]


class Detector(Asking, Keeping, Shown, OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """Finds inputs unlike those it was fitted on, by the disagreement of posterior draws of a model.

    Parameters
    ----------
    model
        The density p(x|θ): ``"auto"``, which suits the inputs (a VAE for pictures; a flow for rows, tables
        and embeddings), a name from ``dissensus.models.MODELS``, or a
        :class:`~dissensus.models.GenerativeModel` of your own, as an object or as a class that is made for
        the inputs' shape.
    posterior
        How weights are drawn: ``"auto"``, as the model recommends (of a VAE ``"sghmc"``, of a flow an
        ``"ensemble"``); ``"sghmc"``, ``"cyclical-sghmc"``, ``"sgld"``, ``"ensemble"`` (of as many members as
        there are chains), ``"swag"`` or ``"variational"``; a rule with settings of its own, such as
        ``SWAG(rank=5)``; or whole :class:`~dissensus.SamplingSettings`, beside which ``epochs``,
        ``batch_size``, ``step_size`` and ``adaptation`` mean nothing.
    statistic
        How disagreement becomes one number: a name from ``dissensus.scores.SCORES``, of which ``"fused"``
        joins several to one measure of how few inliers lie as far out; or a
        :class:`~dissensus.scores.Score` of your own.
    false_alarm_rate
        The share of inputs like the training data that :meth:`predict` may flag. It may be changed at any
        time (``set_params``): the threshold follows without another fit.
    effort
        How much is spent on an input: ``"fast"``, ``"standard"`` or ``"thorough"``, three operating points of
        one fit, each with a score and a calibration of its own, so that the false-alarm rate holds for each.
        It may be changed at any time (``set_params``). It means something for pictures and the fused score,
        with a VAE or a PixelCNN; all else is always scored with every draw and all samples.
    chains, draws
        How many chains are run, and how many draws M are kept of all of them. ``None`` takes what the
        posterior needs: 4 members of an ensemble, each of which is a draw; 20 draws of 2 chains otherwise.
    epochs, batch_size
        ``None`` chooses by the number of rows (``dissensus.schedule``).
    step_size
        ε of the sampler, if the posterior is one by name; it moves about like Adam with a learning rate of
        20 ε². ``None`` takes what the model recommends: 0.01, of a flow 0.02.
    adaptation
        For how many epochs a sampler adapts its scales to the gradients; ``None``: for all of them that give
        no draws. Chains whose scales go on adapting do not sample.
    samples
        K, the importance samples of each log-likelihood; where log p is exact it means nothing.
    proposal
        Where these samples come from: ``"own"``, what belongs to a draw, or ``"pooled"``, the mixture of what
        belongs to all draws, as the paper writes it for its second variant.
    resize
        (height, width) that image files are brought to, at fit and at scoring.
    examples
        How many training inputs are kept, and saved, to show those most like an input (:meth:`explain`); 0
        keeps none.
    neighbours
        Whether training inputs are kept, and saved, to measure how near they are to an input: up to 20,000
        rows, or 10,000 pictures by what is light and rough in them, each as up to 64 numbers. ``False`` keeps
        none, and the score does without. None are kept for a score that does not ask. Beside them, of a model
        with a latent space: the codes of up to 5,000 training inputs, for the density q(z) (:attr:`latent`).
    embed
        What turns inputs into vectors (N, D) before the model sees them: a function, a torch module, the path
        of an ``.onnx`` file, or a :class:`~dissensus.inputs.Embedder` of your own. Inputs may then also be a
        list of anything, such as texts. Photographs of things want this: a model of their pixels sees colours
        and edges, an encoder trained on other photographs sees things.
    device
        ``"cpu"``, ``"cuda"``, …; ``"auto"`` takes a GPU where there is one.
    random_state
        Root of all randomness. The same value on the same machine gives the same detector, bit for bit.

    Attributes
    ----------
    learnt_ : Learnt
        Everything that the fit has learnt, frozen; the other attributes are names for its parts
        (:class:`~dissensus.detector.attributes.FittedAttributes`), such as ``draws_``, ``model_``,
        ``calibration_scores_`` and ``threshold_``.
    n_features_in_ : int
        How many values are given for one input.
    feature_names_in_ : ndarray
        The names of a table's columns, if it was fitted on one.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(300, 3))
    >>> gate = Detector(epochs=20, draws=4).fit(rows)
    >>> gate.predict([[0.1, -0.2, 0.3], [90.0, 90.0, -90.0]]).tolist()
    [1, -1]
    """

    variant = 1
    """The parts of a model that only propose are optimised; in the paper's second variant they are drawn."""

    def __init__(
        self,
        *,
        model: Model = AUTO,
        posterior: Posterior = AUTO,
        statistic: Statistic = STATISTIC,
        false_alarm_rate: float = 0.05,
        effort: str = EFFORT,
        chains: int | None = None,
        draws: int | None = None,
        epochs: int | None = None,
        batch_size: int | None = None,
        step_size: float | None = None,
        adaptation: int | None = None,
        samples: int = 16,
        proposal: Proposal = "own",
        resize: tuple[int, int] | None = None,
        examples: int = 512,
        neighbours: bool = True,
        embed: Any = None,
        device: str = "auto",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.model = model
        self.posterior = posterior
        self.statistic = statistic
        self.false_alarm_rate = false_alarm_rate
        self.effort = effort
        self.chains = chains
        self.draws = draws
        self.epochs = epochs
        self.batch_size = batch_size
        self.step_size = step_size
        self.adaptation = adaptation
        self.samples = samples
        self.proposal = proposal
        self.resize = resize
        self.examples = examples
        self.neighbours = neighbours
        self.embed = embed
        self.device = device
        self.random_state = random_state

    # ---- fitting

    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002 scikit-learn passes it to every estimator
        *,
        contamination: float | None = None,
        memory: str | int | None = None,
        checkpoint: str | Path | None = None,
        on_progress: OnProgress | None = None,
    ) -> Self:
        """Learns what is normal from ``X`` without labels.

        ``X`` is an array or tensor (N, D), (N, H, W) or (N, H, W, C), a frame of pandas, polars or pyarrow,
        an :class:`ImageFolder`, a :class:`TableFile`, a path to a folder or file (images, arrays, ``.csv``
        and ``.parquet`` tables), a pattern such as ``"photos/*.png"``, or the name of a dataset. All other
        methods take the same. Columns of frames and tables may hold numbers, names, truth values, dates and
        missing values, and are found by name (:class:`~dissensus.inputs.TableEncoder`). With ``embed``, ``X``
        may also be a list of whatever the embedder reads.

        ``contamination`` is the share of ``X`` that may be outliers, below 0.5. Of rows and embedded inputs,
        half as many again are left out, those furthest from the bulk of all. Of pictures a first fit
        scores all, and that share is left out of a second. ``None`` takes every input for normal. No input is
        left out of the calibration, for p-values would be too small, so that outliers there make alarms rarer
        (``docs/guarantees.md``): :meth:`recalibrate` on normal inputs where you have some. What is flagged is
        set by ``false_alarm_rate`` alone.

        ``memory``, such as ``"2 GB"``, is what the whole process may take. Inputs then stay on disk, are
        decoded once into a cache there (in ``checkpoint``, if it is given) and are learnt from by blocks
        (``docs/scale.md``). None holds all inputs in memory.

        ``checkpoint`` is a folder where an interrupted fit goes on; a folder that another process is using
        is refused at once.

        Warns by a :class:`~dissensus.errors.SamplerWarning` if the chains do not sample, and says what to
        change.
        """
        plan = self._plan(contamination)
        if memory is not None:
            plan = replace(plan, memory=parse_memory(memory))
        learning = learn if memory is None else learn_within_memory
        with claimed_checkpoint(checkpoint):
            self._forget()
            self._take(
                learning(X, plan, checkpoint=checkpoint, on_progress=logged(on_progress), stacklevel=3)
            )
        warn_if_mute(self)
        warn_if_outliers_rule(self)
        warn_if_unsound(self)
        return self

    def recalibrate(self, X: Any, *, keep: bool = False, on_progress: OnProgress | None = None) -> Self:
        """Takes new inliers ``X``, which :meth:`fit` has not seen, as calibration inputs; no draw changes.

        After a drift that is to be called normal, or to afford a lower false-alarm rate. They replace the
        old ones, or with ``keep`` join them. P-values and threshold are as good as ``X`` is free of outliers.
        """
        check_is_fitted(self)

        def calibrated(at: str, old: Mapping[str, NDArray[np.float64]]) -> Mapping[str, NDArray[np.float64]]:
            found = self._statistics(X, logged(on_progress), stage="calibrating", at=at)
            return together(old, found) if keep else found

        learnt = self.learnt_.with_calibration(calibrated)
        known = self.learnt_.confirmed
        if known is not None and not keep:
            known = known.with_new_calibration()
        self.learnt_ = replace(learnt, confirmed=known)
        warn_if_mute(self)
        return self

    def confirm(
        self,
        X: Any,
        *,
        normal: bool,
        audited: float = 0.0,
        flagged: ArrayLike | None = None,
        on_progress: OnProgress | None = None,
    ) -> Confirmation:
        """Tell the detector what a person says of inputs ``X`` that were looked at: normal, or outliers.

        All are remembered: :meth:`known` says so when one comes again. That changes no score and no decision.

        Normal ones may join the calibration inputs. Those that were looked at because they were flagged were
        chosen by their score, and would make alarms rarer than asked for. So it takes ``audited``: of the
        inputs that were not flagged, the share that was drawn by chance and looked at too. These join, and
        each flagged one joins with this probability, so that who joins does not depend on the score
        (:mod:`dissensus.decisions.feedback`). 1 says that everything was looked at, 0 that only alarms were:
        then none joins. ``flagged`` (N,) says which were, if it was not this detector as it is now that
        flagged them. An input that calibrates already does not join again, and one that turns out to be an
        outlier leaves the calibration: both are known by their values, to the last bit.
        """
        return confirm(self, X, normal=normal, audited=audited, flagged=flagged, on_progress=on_progress)

    def fit_chains(
        self,
        X: Any,
        *,
        first_chain: int = 0,
        contamination: float | None = None,
        memory: str | int | None = None,
        checkpoint: str | Path | None = None,
        on_progress: OnProgress | None = None,
    ) -> Chains:
        """Runs only some chains of a fit, as another machine runs others, for ``join_chains`` to join.

        ``chains`` and ``draws`` are those of this part; its chains are numbered from ``first_chain`` on. All
        parts take the same ``X`` and settings, and divide it alike: joined, they are the detector that one
        machine would have fitted with all chains, to the bit on one kind of processor. Nothing is calibrated
        here. The rest is as in :meth:`fit`.
        """
        part = copy.copy(self)
        part._in_parts = True
        part._forget()
        plan = part._plan(contamination)
        if memory is not None:
            plan = replace(plan, memory=parse_memory(memory))
        with claimed_checkpoint(checkpoint):
            return run_chains(
                part,
                X,
                plan,
                first_chain,
                checkpoint=checkpoint,
                on_progress=logged(on_progress),
                stacklevel=3,
            )

    # ---- what subclasses say otherwise

    _in_parts = False
    """Whether it is fitted in parts, of which this is one: some of the chains, on one of several machines."""

    def _plan(self, contamination: float | None) -> Plan:
        """What a fit is to do; settings that cannot work are refused."""
        self._check()
        check_posterior(self)
        check_contamination(contamination)
        return Plan(
            self._build,
            lambda rows: self._recommended(rows=rows),
            partial(settled, self),
            partial(sampling_settings, self),
            self.statistic,
            int(self.samples),
            self.proposal,
            self.resize,
            int(self.examples),
            bool(self.neighbours),
            self.embed,
            root_seed(self.random_state),
            find_device(self.device),
            float(contamination or 0.0),
            self._has_own_shape(),
        )

    def _check(self) -> None:
        """Refuses settings that cannot work, as far as that is known before the inputs are seen."""
        check_model(self.model)
        check_settings(self)

    def _build(self, shape: tuple[int, ...], clip: float | None, seed: int) -> GenerativeModel:
        """The model for inputs of a shape as it reads them, whose training values lie within ±clip."""
        return build_model(self._asked(), shape, clip=clip, generator=torch_stream(seed, "architecture"))

    def _has_own_shape(self) -> bool:
        """Whether the model reads inputs of a shape that it was made for."""
        return isinstance(self.model, GenerativeModel)

    def _recommended(self, *, rows: bool) -> Recommended:
        """What the model recommends, for rows or else for pictures."""
        return recommended_for(self._asked(), rows=rows)

    def _asked(self) -> Model:
        """The model, where a name leaves open what only a vocabulary says."""
        if isinstance(self.embed, Vocabulary) and self.model in (AUTO, "sequences"):
            return Sequences(self.embed.length, len(self.embed.symbols) + 1)
        return self.model

    # ---- keeping what was learnt

    def _forget(self) -> None:
        """Removes what an earlier fit learnt: half of it beside half of a new fit would score wrongly."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def _take(self, learnt: Learnt) -> None:
        """Becomes the detector that has learnt this, with scikit-learn's names for what the inputs are."""
        self.learnt_ = learnt
        self.n_features_in_ = learnt.preprocessor.n_features
        if learnt.preprocessor.feature_names is not None:
            self.feature_names_in_ = np.array(learnt.preprocessor.feature_names, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learnt_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags
