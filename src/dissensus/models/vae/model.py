"""The variational autoencoder: an encoder, a decoder and an observation model, checked to fit together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import torch
from torch import Tensor, nn

from dissensus.errors import SettingsError
from dissensus.models.contract import LOG_LIKELIHOOD, Inferred, LatentModel, Observed, Scorer
from dissensus.models.importance import importance_log_likelihood, importance_samples
from dissensus.models.initialisation import initialise
from dissensus.models.inputs import unit_scale
from dissensus.models.observation import ObservationModel, OwnObservations
from dissensus.models.typical import normal_misfit
from dissensus.models.vae.checks import check_networks
from dissensus.models.vae.gradient import gradient_norm
from dissensus.models.vae.scorer import inputs_at_once, samples_at_once, sized_scorer, tile_scorer

__all__ = ["LOG_STD_RANGE", "VAE"]

LOG_STD_RANGE = (-10.0, 5.0)
"""The encoder's log σ is clamped to this range, so that an input unlike all others cannot overflow exp."""


OBSERVED: Mapping[str, Observed] = MappingProxyType(
    {
        "latent-norm": Observed("log of the squared length of the encoding, log ‖μ_z‖²", "both", "log_norm"),
        "latent-scale": Observed("log volume of the encoding, Σ log σ_z²", "both", "log_volume"),
        "reconstruction": Observed("squared distance to the reconstruction, ‖x − x̂‖²", "upper", "distance"),
        "corrected-ll": Observed("best log p(x|·) of any decoder less that at z = μ_z", "upper", "regret"),
        "pixel-variance": Observed(
            "variance of log p(x_d|z = μ_z) over draws, summed over d", "upper", "terms", "variance"
        ),
        "reconstruction-spread": Observed(
            "variance of x̂ over draws, summed over d", "upper", "reconstruction", "variance"
        ),
        "latent-spread": Observed(
            "variance of μ_z over the encoders of a chain, summed over z",
            "upper",
            "code",
            "variance-within-chain",
        ),
    }
)
"""The statistics of a VAE, by name. Together they cost one decoding a draw, at the mean of q(z|x)."""

FURTHER: Mapping[str, Observed] = MappingProxyType(
    {
        "code-fit": Observed(
            "log distance of μ_z from what the prior would give, Cramér–von Mises", "both", "misfit"
        ),
        "gradient-norm": Observed(
            "log squared length of the gradient of log p(x|z = μ_z) by the last layer", "both", "gradient"
        ),
    }
)
"""Those that cost a further decoding, and half a backward pass, where a score names one."""


class VAE(LatentModel):
    r"""p(x|z,θ) p(z) with p(z) = N(0, I), and q(z|x,φ) = N(mean, diag σ²).

    Bring your own networks, or have them made by :func:`dissensus.models.build_vae`:

    - ``encoder``: (B, *S) → the pair (mean, log σ), each (B, Z), or both side by side as one (B, 2Z);
    - ``decoder``: (B, Z) → B·Q·∏S numbers in any shape, read as (B, Q, *S), Q parameters for each dimension.

    Both are run once on zeros here, so that a wrong shape is an error now and not in the middle of a chain.
    Batch normalisation and dropout are refused: with them an input's score depends on its neighbours in the
    batch or on chance.

    With ``clip``, the encoder sees inputs within ±clip only. Far outside all it was trained on a network's
    answer is chance; the likelihood is always that of the input itself.
    """

    inference = ("encoder",)
    observed = OBSERVED
    further = FURTHER
    observes_likelihood = True

    def __init__(
        self,
        encoder: nn.Module,
        decoder: nn.Module,
        observation: ObservationModel,
        input_shape: Sequence[int],
        latent_size: int,
        *,
        clip: float | None = None,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.observation = observation
        self.input_shape = tuple(int(side) for side in input_shape)
        self.latent_size = self.noise_size = int(latent_size)
        self.clip = clip
        if not self.input_shape or min(self.input_shape) < 1:
            raise SettingsError(f"input_shape={self.input_shape}: give one or more positive sizes.")
        if self.latent_size < 1:
            raise SettingsError(f"latent_size={latent_size}: give at least 1.")
        if clip is not None and not clip > 0:
            raise SettingsError(f"clip={clip}: give a number above 0, or None for no clipping.")
        check_networks(self)

    @property
    def explained_by(self) -> Literal["terms", "occlusion"]:
        """Pictures by each pixel's own term; in a row one absurd value would change all columns' terms."""
        return "terms" if len(self.input_shape) == 3 else "occlusion"

    def parts(self) -> dict[str, nn.Module]:
        """Decoder and encoder."""
        return {"decoder": self.decoder, "encoder": self.encoder}

    def initialise_(self, generator: torch.Generator) -> None:
        """Draws both networks' weights anew (:func:`dissensus.models.initialise`)."""
        initialise(self.encoder, generator)
        initialise(self.decoder, generator)

    def read(self, x: Tensor) -> Tensor:
        """uint8 pixels as float32 in [0, 1]; floats as they are."""
        return unit_scale(x)

    def infer(self, x: Tensor) -> Inferred:
        """Mean and log σ of q(z|x), two of (N, Z)."""
        return self.encode(x)

    def objective(self, x: Tensor, noise: Tensor) -> Tensor:
        """The evidence lower bound (B,)."""
        return self.elbo(unit_scale(x), noise)

    def log_likelihood(self, x: Tensor, noise: Tensor, inferred: Inferred) -> tuple[Tensor, Tensor]:
        """log p̂(x) (N,) by importance sampling from q(z|x), and its Monte-Carlo error (N,)."""
        mean, log_std = inferred
        at_once = (len(x), samples_at_once(self, noise.device, len(noise)))
        samples = importance_samples(mean, log_std, noise)
        return importance_log_likelihood(self.log_prob, unit_scale(x), samples, at_once=at_once)

    def pooled(self, inferred: Sequence[Inferred]) -> Inferred:
        """Means and log σ of all encoders (N, E, Z): q(z|x, D) is the even mixture of their normals."""
        means, log_stds = zip(*inferred, strict=True)
        return torch.stack(means, dim=1), torch.stack(log_stds, dim=1)

    def tile(self, device: torch.device, samples: int) -> int:
        """Return how many inputs one call of the decoder takes: enough to be efficient."""
        return inputs_at_once(self, device, samples)

    def observed_tile(self, device: torch.device) -> int:
        """Return how many inputs are observed at once: few images, as a single one costs a whole tile."""
        if device.type != "cpu":
            return 4096
        return 64 if len(self.input_shape) == 1 else 8

    def scorer(self, noise: Tensor, tile: int) -> Scorer:
        """Half precision on a GPU where the networks bear it, the plain one elsewhere."""
        return tile_scorer(self, noise, tile)

    def scorer_for(self, noise: Tensor, tile: int, evaluations: int) -> Scorer:
        """The same through torch's compiler where that pays, its warm-up counted."""
        return sized_scorer(self, noise, tile, evaluations)

    def observe(self, x: Tensor, inferred: Inferred) -> dict[str, Tensor]:
        """What one decoding at z = μ_z tells: see :data:`OBSERVED`, and the places' own terms.

        The rough log-likelihood is the importance sample at μ_z: log p(x|μ_z) + log p(μ_z) − log q(μ_z|x).
        """
        x, (mean, log_std) = unit_scale(x), inferred
        parameters = self.decode(mean)
        reconstruction = self.observation.mean(parameters)
        terms = self.observation.log_prob_terms(x, parameters).double()
        code = mean.double()
        fit, squared_length = terms.flatten(1).sum(1), code.square().sum(1)
        log_volume = 2 * log_std.sum(1, dtype=torch.float64)
        return {
            LOG_LIKELIHOOD: fit - 0.5 * squared_length + 0.5 * log_volume,
            "terms": terms,
            "reconstruction": reconstruction.double(),
            "code": code,
            "regret": self.observation.best_log_prob(x) - fit,
            "distance": (x - reconstruction).flatten(1).square().sum(1, dtype=torch.float64),
            # Zeros have a logarithm too.
            "log_norm": squared_length.clamp(min=torch.finfo(torch.float64).tiny).log(),
            "log_volume": log_volume,
        }

    def observe_further(self, x: Tensor, inferred: Inferred, fields: Collection[str]) -> dict[str, Tensor]:
        """See :data:`FURTHER`."""
        found = {"misfit": normal_misfit(inferred[0])}
        if "gradient" in fields:
            found["gradient"] = gradient_norm(self.decoder, self.log_prob, x, inferred[0])
        return found

    def log_prob(self, x: Tensor, z: Tensor) -> Tensor:
        """log p(x|z) (N,) in float64, of inputs (N, *S) at points (N, Z)."""
        return self.observation.log_prob(unit_scale(x), self.decode(z))

    def sample(self, z: Tensor, generator: torch.Generator) -> Tensor:
        """Inputs (N, *S) drawn from p(x|z)."""
        return self.observation.sample(self.decode(z), generator)

    def reconstruct(self, x: Tensor, inferred: Inferred) -> Tensor:  # noqa: ARG002
        """The observation model's mean at z = μ_z."""
        return self.observation.mean(self.decode(inferred[0]))

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and log σ of q(z|x): (B, *S) → two of (B, Z), log σ clamped to :data:`LOG_STD_RANGE`."""
        x = unit_scale(x)
        output = self.encoder(x if self.clip is None else x.clamp(-self.clip, self.clip))
        mean, log_std = output.chunk(2, dim=1) if isinstance(output, Tensor) else output
        return mean, log_std.clamp(*LOG_STD_RANGE)

    def decode(self, z: Tensor) -> Tensor:
        """The observation model's parameters: (B, Z) → (B, Q, *S)."""
        output: Tensor = self.decoder(z)
        return output.reshape(z.shape[0], self.observation.parameters_per_dimension, *self.input_shape)

    def drawn(self, z: Tensor, seed: int) -> Tensor:
        """Inputs (N, *S) drawn from p(x|z), each by the same noise."""
        own = torch.Generator(device=z.device)
        each = self.decode(z).split(1)  # type: ignore[no-untyped-call]
        return torch.cat([self.observation.sample(one, own.manual_seed(seed)) for one in each])

    def outputs(self, z: Tensor, x: Tensor | None) -> Tensor | None:  # noqa: ARG002
        """The observation model's parameters (N, Q, *S), if it says what they tell of a draw."""
        known = type(self.observation).information is not ObservationModel.information
        return self.decode(z) if known else None

    def information(self, outputs: Tensor) -> Tensor:
        """What each dimension tells of the draw, summed: (M, N, Q, *S) → (N,)."""
        found = self.observation.information(outputs)
        assert found is not None
        return found.flatten(1).sum(1)

    def elbo(self, x: Tensor, noise: Tensor) -> Tensor:
        r"""The evidence lower bound with one z = mean + σ·noise: x (B, *S), noise (B, Z) → (B,) float64.

        .. math:: \log p(x|z) - \mathrm{KL}(q(z|x) \,\|\, \mathcal N(0, I)), \quad
                  \mathrm{KL} = \tfrac12 \sum_i (\sigma_i^2 + \mu_i^2 - 1 - 2 \log\sigma_i)
        """
        mean, log_std = self.encode(x)
        std = log_std.exp()
        kl_terms = 0.5 * (std.square() + mean.square() - 1) - log_std
        log_p = self.observation.log_prob(x, self.decode(mean + std * noise))
        return log_p - kl_terms.sum(1, dtype=torch.float64)

    @classmethod
    def for_inputs(cls, shape: tuple[int, ...], *, clip: float | None, generator: torch.Generator) -> VAE:
        """Networks and an observation model that suit the shape."""
        from dissensus.models.vae.build import build_vae

        return build_vae(shape, observation="auto", clip=clip, generator=generator)

    def facts(self) -> dict[str, Any]:
        """The observation model and the size of the latent space."""
        return {"observation": self.observation.name, "latent_size": int(self.latent_size)}

    def config(self) -> dict[str, Any]:
        """What :func:`dissensus.models.architecture_config` says."""
        from dissensus.models.vae.build import architecture_config

        return architecture_config(self)

    @classmethod
    def from_config(
        cls,
        config: Mapping[str, Any],
        *,
        observation: OwnObservations = None,
    ) -> VAE:
        """The inverse of :meth:`config`, for networks that this package made.

        An ``observation`` model of a person's own is not in the config, and must be passed.
        """
        from dissensus.models.vae.build import vae_from_config

        return vae_from_config(config, observation=observation)

    def forward(self, x: Tensor, noise: Tensor) -> Tensor:
        """The same as :meth:`elbo`."""
        return self.elbo(x, noise)
