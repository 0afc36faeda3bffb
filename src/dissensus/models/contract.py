r"""What a generative model is: a density p(x|θ) that is trained by gradient and asked for log p(x).

Everything after :mod:`dissensus.models` (the posterior, the matrix, explanations, files) works with any class
that keeps this contract. Nothing else knows what the model is made of.

Shapes: B or N inputs of shape S, K samples, M draws. Inputs come as they are stored, uint8 or float32: to
scale them is the model's first operation, on its own device.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Protocol, Self

import torch
from torch import Tensor, nn

from dissensus.tiles import slices

__all__ = [
    "LOG_LIKELIHOOD",
    "Fold",
    "GenerativeModel",
    "Inferred",
    "LatentModel",
    "Observed",
    "PlainScorer",
    "Recommended",
    "Scorer",
]

Inferred = tuple[Tensor, ...]
"""What :meth:`GenerativeModel.infer` gives: tensors (N, ...), one row an input."""

Fold = Literal["mean", "variance", "variance-within-chain"]

LOG_LIKELIHOOD = "log_likelihood"
"""The field of :meth:`GenerativeModel.observe` that is a rough log p(x), got from the same evaluation."""


@dataclass(frozen=True)
class Observed:
    """How something that a model tells of an input under a draw becomes one statistic of the input."""

    description: str
    tails: Literal["upper", "both"]
    """Where outliers are found: among high values, or among low ones too."""
    field: str
    """Its name in what :meth:`GenerativeModel.observe` gives: numbers (N,) or fields (N, ...)."""
    fold: Fold = "mean"
    """Over draws: their mean, or the variance of each place of a field, summed over places. The variance
    within a chain, averaged over chains, is for what cannot be compared between chains."""


@dataclass(frozen=True)
class Recommended:
    """How a model's weights are drawn where nobody says otherwise."""

    posterior: str = "sghmc"
    """A name from ``dissensus.posterior.POSTERIORS``."""
    chains: int = 2
    draws: int = 20
    """M, of all chains together."""
    step_size: float = 1e-2
    """Of the posterior, or of another one that is asked for, if it is a sampler."""


class Scorer(Protocol):
    """Log-likelihoods of tiles of inputs under the weights that the model holds at the moment."""

    def load(self) -> None:
        """Called whenever the model has been given other weights."""

    def __call__(self, x: Tensor, inferred: Inferred) -> tuple[Tensor, Tensor]:
        """log p (n,) and its Monte-Carlo error (n,) in float64, of inputs (n, *S) in whole tiles.

        What does not come out finite is scored again by the model's own ``log_likelihood``.
        """
        ...


class GenerativeModel(nn.Module, ABC):
    """A density over inputs of shape ``input_shape``.

    A subclass says how it is trained (:meth:`objective`) and what an input's log-likelihood is
    (:meth:`log_likelihood`); the rest has an answer that is right for a density without latents, whose
    log-likelihood is exact.
    """

    input_shape: tuple[int, ...]
    noise_size: int = 0
    """How many standard normal numbers a sample of the objective needs. 0: log p is exact, there is no K."""
    inference: tuple[str, ...] = ()
    """The names of parts that only propose, such as a VAE's encoder; they may be optimised, not sampled."""
    capturable: ClassVar[bool] = True
    """Whether the objective can be recorded once and replayed on a GPU: it neither draws random numbers of
    its own nor waits for the device."""
    draws_at_once: ClassVar[int] = 1
    """How many draws are evaluated in one call by ``torch.vmap``; above 1 only where that is safe."""
    recommended: ClassVar[Recommended] = Recommended()
    """How its weights are drawn where nobody says otherwise."""
    observed: Mapping[str, Observed] = MappingProxyType({})
    """The statistics that it offers beside the log-likelihood, by name."""
    further: Mapping[str, Observed] = MappingProxyType({})
    """Those that are measured only for a score that names them."""
    observes_likelihood: ClassVar[bool] = False
    """Whether :meth:`observe` also gives a rough log-likelihood (N,) by the name :data:`LOG_LIKELIHOOD`."""

    @property
    def training_noise_size(self) -> int:
        """How many standard normal numbers the objective takes of an input: those of a sample.

        A model that is exact may take some all the same, to be trained on inputs that are blurred a little.
        """
        return self.noise_size

    @property
    def explained_by(self) -> Literal["terms", "occlusion"]:
        """How it is found out where draws disagree about an input.

        ``"terms"`` if :meth:`observe` gives the places' own parts of the log-likelihood by that name;
        otherwise one column, or one patch of a picture, after the other is set to its mean.
        """
        return "occlusion"

    @property
    def reads_pictures(self) -> bool:
        """Whether an input has places (C, H, W), so that networks use each weight many times."""
        return len(self.input_shape) > 1

    def parts(self) -> dict[str, nn.Module]:
        """The model's parameter groups by name: disjoint, and together all that is trainable.

        A draw is kept part by part. In each training step the parts of :attr:`inference` move first.
        """
        return {"model": self}

    @abstractmethod
    def initialise_(self, generator: torch.Generator) -> None:
        """Draws the weights that a chain starts from."""

    def read(self, x: Tensor) -> Tensor:
        """Inputs as the networks read them, scaled say, once for all draws; what was read may be read again.

        Every other method takes inputs that were read and inputs that were not.
        """
        return x

    def infer(self, x: Tensor) -> Inferred:  # noqa: ARG002
        """What depends on the ``inference`` parts and the inputs alone: once for draws that share them."""
        return ()

    @abstractmethod
    def objective(self, x: Tensor, noise: Tensor) -> Tensor:
        """What training maximises, (B,) nats in float64: log p(x), or a bound on it.

        ``noise`` (B, training_noise_size) is standard normal; at zeros an exact model gives log p(x) itself.
        """

    @abstractmethod
    def log_likelihood(self, x: Tensor, noise: Tensor, inferred: Inferred) -> tuple[Tensor, Tensor]:
        """log p(x) (N,) in float64 and its Monte-Carlo error (N,), 0 where it is exact and NaN for K = 1.

        ``noise`` (K, noise_size) is shared by all inputs, so that it cancels between draws.
        """

    def pooled(self, inferred: Sequence[Inferred]) -> Inferred:
        """What is inferred by all weights of the ``inference`` parts together, for one proposal of them all.

        The paper's q(z|x, D): a mixture of the proposals of all draws instead of each draw's own.
        """
        if len(inferred) > 1:
            raise NotImplementedError(f"{type(self).__name__} has no pooled()")
        return inferred[0]

    def observe(self, x: Tensor, inferred: Inferred) -> dict[str, Tensor]:  # noqa: ARG002
        """What else there is to tell of inputs under this draw: numbers (N,) and fields (N, ...) by name."""
        return {}

    def observe_further(self, x: Tensor, inferred: Inferred, fields: Collection[str]) -> dict[str, Tensor]:  # noqa: ARG002
        """These of the fields that :attr:`further` is made of, as in :meth:`observe`; or more of them."""
        return {}

    def features(self, x: Tensor) -> Tensor:
        """A place (N, F) for each input, to find the training inputs nearest to it."""
        return x.flatten(1).to(torch.float32)

    def tile(self, device: torch.device, samples: int) -> int:  # noqa: ARG002
        """How many inputs are worked on in one call: always as many, the last tile is filled up."""
        return 64 if device.type == "cpu" else 4096

    def observed_tile(self, device: torch.device) -> int:
        """How many inputs are observed in one call."""
        return self.tile(device, 1)

    def scorer(self, noise: Tensor, tile: int) -> Scorer:
        """The fastest way to score tiles of so many inputs on the noise's device."""
        return PlainScorer(self, noise, tile)

    def scorer_for(self, noise: Tensor, tile: int, evaluations: int) -> Scorer:  # noqa: ARG002
        """The same where there are so many ``evaluations``, of all draws, inputs and samples together.

        What takes long to prepare may pay then. Last bits may depend on which way was taken.
        """
        return self.scorer(noise, tile)

    @classmethod
    def for_inputs(
        cls,
        shape: tuple[int, ...],
        *,
        clip: float | None,  # noqa: ARG003
        generator: torch.Generator,  # noqa: ARG003
    ) -> GenerativeModel:
        """An untrained model for inputs of a shape, (C, H, W) or (D,), where only its class is named.

        ``clip`` is how far out, in deviations, values lie that it will be trained on; None if they are
        bounded. Unless this is overridden, the class is called with the shape.
        """
        return cls(shape)

    def facts(self) -> dict[str, Any]:
        """What there is to say about the architecture, as JSON values by name."""
        return {}

    def config(self) -> dict[str, Any]:
        """JSON values that :meth:`from_config` makes the same architecture of, without its weights."""
        raise NotImplementedError(f"{type(self).__name__} has no config(): it cannot be saved")

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> GenerativeModel:
        """The inverse of :meth:`config`; it must work on torch's "meta" device."""
        raise NotImplementedError(f"{cls.__name__} has no from_config(): it cannot be loaded")


class LatentModel(GenerativeModel):
    """A generative model with a latent space: p(x|θ) = ∫ p(x|z, θ) N(z; 0, I) dz."""

    latent_size: int
    in_turn: ClassVar[bool] = False
    """Whether the places of an input are drawn one after the other: :meth:`outputs` then needs an input."""

    @abstractmethod
    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and log σ of q(z|x), two of (N, Z)."""

    @abstractmethod
    def log_prob(self, x: Tensor, z: Tensor) -> Tensor:
        """log p(x|z) (N,) in float64, of inputs (N, *S) at points (N, Z)."""

    @abstractmethod
    def sample(self, z: Tensor, generator: torch.Generator) -> Tensor:
        """Inputs (N, *S) drawn from p(x|z)."""

    @abstractmethod
    def reconstruct(self, x: Tensor, inferred: Inferred) -> Tensor:
        """The input (N, *S) as this draw sees it, in the units of scaled inputs."""

    def together(self, models: Sequence[Self], z: Tensor) -> Tensor:  # noqa: ARG002
        """What points (N, Z) decode to under several draws, this the last of them: here under it alone."""
        return self.reconstruct(z.new_zeros(len(z), *self.input_shape), (z, torch.zeros_like(z)))

    def features(self, x: Tensor) -> Tensor:
        """The means (N, Z) of q(z|x)."""
        return self.encode(x)[0].float()

    def drawn(self, z: Tensor, seed: int) -> Tensor:
        """Inputs (N, *S) drawn from p(x|z), each by the same noise: a function of its own z and the seed."""
        own = torch.Generator(device=z.device)
        return torch.cat([self.sample(point, own.manual_seed(seed)) for point in z.split(1)])  # type: ignore[no-untyped-call]

    def outputs(self, z: Tensor, x: Tensor | None) -> Tensor | None:  # noqa: ARG002
        """What the distributions of the places given z are told by (N, ...), differentiable in z.

        Where they are drawn in turn, ``x`` holds inputs drawn at z, and each place is given those before it.
        None: :meth:`information` has no formula here, and draws are compared by their :meth:`log_prob`.
        """
        return None

    def information(self, outputs: Tensor) -> Tensor:
        """What each place tells of which draw made it, summed over places: M draws' outputs → (N,) nats."""
        raise NotImplementedError(f"{type(self).__name__} has outputs() and no information()")


class PlainScorer:
    """The model's own ``log_likelihood``, one tile after the other."""

    def __init__(self, model: GenerativeModel, noise: Tensor, tile: int) -> None:
        self.model, self.noise, self.tile = model, noise, tile

    def load(self) -> None:
        """Nothing to do: the model itself is run."""

    def __call__(self, x: Tensor, inferred: Inferred) -> tuple[Tensor, Tensor]:
        """log p (n,) and its error (n,)."""
        found = [
            self.model.log_likelihood(
                # Copies, because kernels add up in another order where memory is aligned otherwise.
                x[rows].clone(),
                self.noise,
                tuple(part[rows].clone() for part in inferred),
            )
            for rows in slices(slice(0, len(x)), self.tile)
        ]
        value, error = zip(*found, strict=True)
        return torch.cat(value), torch.cat(error)
