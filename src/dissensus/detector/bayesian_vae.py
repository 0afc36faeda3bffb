"""The detector of the paper: a variational autoencoder whose weights are drawn from their posterior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from torch import nn

from dissensus.defaults import EFFORT, STATISTIC
from dissensus.detector.estimator import Detector
from dissensus.detector.posterior import Posterior
from dissensus.detector.settings import check_count, check_settings
from dissensus.detector.statistic import OwnScores, Statistic
from dissensus.errors import SettingsError
from dissensus.inputs import OwnEmbedders
from dissensus.likelihood import Proposal
from dissensus.models import (
    PAPER_TRAINING,
    VAE,
    GenerativeModel,
    ObservationModel,
    OwnModels,
    OwnObservations,
    Recommended,
    build_vae,
    check_observation,
    default_observation,
    model_from_config,
    observation,
    vae_from_config,
)
from dissensus.posterior import SGHMC, Adam, GammaHyperprior, SamplingSettings
from dissensus.seeding import torch_stream

__all__ = ["BayesianVAE"]

TOGETHER = "encoder and decoder belong together: pass both or none"


class BayesianVAE(Detector):
    """A :class:`Detector` whose model is a VAE, with the VAE's own arguments.

    Parameters
    ----------
    variant
        1 samples the decoder and optimises an encoder a chain, 2 samples both (the paper's two variants).
    observation
        What a pixel or a number is under the model: ``"bernoulli"``, ``"continuous-bernoulli"``,
        ``"gaussian"``, ``"categorical"``, ``"discretised-logistic"`` or an instance, also of a class of your
        own; ``"auto"`` is Bernoulli for images and Gaussian with a learned scale for vectors.
    latent_size, widths
        Size of the latent space and of the networks' layers; ``None`` chooses by the inputs' shape.
    encoder, decoder
        Networks of your own (:class:`~dissensus.models.VAE` says what they must take and give); both or none.
    posterior, statistic, false_alarm_rate, effort, chains, draws, epochs, batch_size, step_size, \
adaptation, samples, proposal, resize, examples, neighbours, embed, device, random_state
        As in :class:`Detector`.

    Attributes
    ----------
    vae_ : VAE
        The architecture that the draws belong to.

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
        effort: str = EFFORT,
        observation: str | ObservationModel = "auto",
        latent_size: int | None = None,
        widths: Sequence[int] | None = None,
        chains: int | None = None,
        draws: int | None = None,
        epochs: int | None = None,
        batch_size: int | None = None,
        step_size: float | None = None,
        adaptation: int | None = None,
        samples: int = 16,
        proposal: Proposal = "own",
        encoder: nn.Module | None = None,
        decoder: nn.Module | None = None,
        resize: tuple[int, int] | None = None,
        examples: int = 512,
        neighbours: bool = True,
        embed: Any = None,
        device: str = "auto",
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.variant = variant
        self.posterior = posterior
        self.statistic = statistic
        self.false_alarm_rate = false_alarm_rate
        self.effort = effort
        self.observation = observation
        self.latent_size = latent_size
        self.widths = widths
        self.chains = chains
        self.draws = draws
        self.epochs = epochs
        self.batch_size = batch_size
        self.step_size = step_size
        self.adaptation = adaptation
        self.samples = samples
        self.proposal = proposal
        self.encoder = encoder
        self.decoder = decoder
        self.resize = resize
        self.examples = examples
        self.neighbours = neighbours
        self.embed = embed
        self.device = device
        self.random_state = random_state

    @classmethod
    def as_in_the_paper(cls, *, variant: int = 1, epochs: int = 20, **changes: Any) -> Self:
        """A detector with the paper's score, the effective sample size of the draws, and its settings.

        Section 5.1: scale-adapted SGHMC with step 1e-3 and momentum decay 0.05, Adam 1e-3 for the encoder of
        variant 1, Gamma(1, 1) hyperpriors over one precision for the decoder and one for the encoder, one
        chain, a burn-in of one epoch, a draw after every epoch, and scales that adapt for the 3,000 steps of
        the sampler's published code. ``changes`` are other arguments of the constructor.
        """
        stated = PAPER_TRAINING
        sampler = SGHMC(step_size=stated["sghmc_step_size"], momentum_decay=stated["sghmc_momentum_decay"])
        rest = {
            "epochs": epochs,
            "burn_in": int(stated["burn_in_epochs"]),
            "thinning": int(stated["epochs_between_draws"]),
            "hyperprior": GammaHyperprior(stated["gamma_shape"], stated["gamma_rate"], per_part=True),
            "adaptation_steps": int(stated["adaptation_steps"]),
        }
        if variant == 1:
            settings = SamplingSettings.variant_1(sampler, Adam(stated["adam_learning_rate"]), **rest)
        else:
            settings = SamplingSettings.variant_2(sampler, **rest)
        own: dict[str, Any] = {"variant": variant, "posterior": settings, "statistic": "ess"}
        return cls(**own | {"chains": 1, "draws": settings.draws} | changes)

    @property
    def vae_(self) -> VAE:
        """The architecture that the draws belong to."""
        model = self.learnt_.model
        assert isinstance(model, VAE)
        return model

    @classmethod
    def load(
        cls,
        folder: str | Path,
        *,
        device: str = "auto",
        model: OwnModels = None,
        observation: OwnObservations = None,
        encoder: nn.Module | None = None,
        decoder: nn.Module | None = None,
        statistic: OwnScores = None,
        embed: OwnEmbedders = None,
    ) -> Self:
        """Reads a detector that :meth:`save` wrote; code of your own must be passed again.

        These are ``encoder`` and ``decoder``, an ``observation`` model and a ``statistic``, as objects or, of
        the last two, as classes; and what ``embed`` was.
        """
        if (encoder is None) != (decoder is None):
            raise SettingsError(TOGETHER)
        networks = None if encoder is None else (encoder, decoder)
        return cls._loaded(
            folder,
            device=device,
            statistic=statistic,
            own={"model": model, "observation": observation, "networks": networks, "embed": embed},
        )

    def _check(self) -> None:
        if self.variant not in (1, 2):
            raise SettingsError(f"variant must be 1 or 2, got {self.variant!r}")
        if self.latent_size is not None:
            check_count("latent_size", self.latent_size)
        if (self.encoder is None) != (self.decoder is None):
            raise SettingsError(TOGETHER)
        if self.encoder is not None and self.latent_size is None:
            raise SettingsError("latent_size must be given with networks of your own")
        check_observation(self.observation)
        check_settings(self)

    def _has_own_shape(self) -> bool:
        return self.encoder is not None

    def _build(self, shape: tuple[int, ...], clip: float | None, seed: int) -> VAE:
        own = default_observation(shape) if self.observation == "auto" else observation(self.observation)
        if self.encoder is not None and self.decoder is not None and self.latent_size is not None:
            return VAE(self.encoder, self.decoder, own, shape, self.latent_size, clip=clip)
        return build_vae(
            shape,
            latent_size=self.latent_size,
            observation=own,
            widths=self.widths,
            clip=clip,
            generator=torch_stream(seed, "architecture"),
        )

    def _recommended(self, *, rows: bool) -> Recommended:  # noqa: ARG002 the same for both
        return VAE.recommended

    @classmethod
    def _saved_model(cls, config: Mapping[str, Any], own: Mapping[str, Any]) -> GenerativeModel:
        if own["networks"] is None:
            return model_from_config(config, own["model"], observation=own["observation"])
        encoder, decoder = own["networks"]
        return vae_from_config(
            config["config"], encoder=encoder, decoder=decoder, observation=own["observation"]
        )

    @classmethod
    def _own_arguments(cls, model: GenerativeModel, own: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG003
        encoder, decoder = own["networks"] or (None, None)
        return {"encoder": encoder, "decoder": decoder}
