r"""A variational autoencoder of sequences, written one symbol at a time.

.. math:: \log p(x|z) = \sum_{t \le T} \log p(x_t \mid x_{<t}, z)

up to and with the first end, which is symbol 0; what stands behind it counts nothing. No grammar is known to
it: that a string means something is learnt, or not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Self

import torch
from torch import Tensor

from dissensus.errors import DataError, SettingsError
from dissensus.models.contract import Inferred, LatentModel, Observed, Recommended
from dissensus.models.importance import importance_log_likelihood, importance_samples
from dissensus.models.information import information_of_categories
from dissensus.models.initialisation import initialise
from dissensus.models.sequences.networks import SequenceDecoder, SequenceEncoder

__all__ = ["END", "Sequences"]

END = 0
MOST_SYMBOLS = 255  # an input is uint8
LOG_STD_RANGE = (-10.0, 5.0)
NEVER = -60.0  # log-probability of what cannot follow an end

OBSERVED: Mapping[str, Observed] = MappingProxyType(
    {
        "latent-norm": Observed("log of the squared length of the encoding, log ‖μ_z‖²", "both", "log_norm"),
        "latent-scale": Observed("log volume of the encoding, Σ log σ_z²", "both", "log_volume"),
        "corrected-ll": Observed("−log p(x|z = μ_z), for the best that could be is 0", "upper", "regret"),
        "symbol-variance": Observed(
            "variance of log p(x_t|x_<t, z = μ_z) over draws, summed over t", "upper", "terms", "variance"
        ),
    }
)


class Sequences(LatentModel):
    """p(x|z) by a GRU with teacher forcing, q(z|x) by a network that reads the whole sequence.

    Parameters
    ----------
    length
        L: every sequence has so many places, filled up with ends.
    symbols
        V, with the end among them.
    latent_size, embedding, hidden
        Z, and the widths of the networks.
    forgetting
        The share of symbols that the decoder is not told in training, so that it has to look into z.
    kl_weight
        What the objective counts the encoding's divergence from the prior by. Below 1 the objective is no
        bound on log p(x) any more: codes say more, and lie further apart. The log-likelihood is not touched.
    """

    inference = ("encoder",)
    in_turn: ClassVar[bool] = True
    capturable: ClassVar[bool] = False
    observed = OBSERVED
    recommended: ClassVar[Recommended] = Recommended()

    def __init__(
        self,
        length: int,
        symbols: int,
        *,
        latent_size: int = 16,
        embedding: int = 16,
        hidden: int = 128,
        forgetting: float = 0.2,
        kl_weight: float = 1.0,
    ) -> None:
        super().__init__()
        sizes = {"length": length, "latent_size": latent_size, "embedding": embedding, "hidden": hidden}
        for name, size in sizes.items():
            if type(size) is not int or not 1 <= size <= 1 << 16:
                raise SettingsError(f"{name}={size!r}: give a whole number from 1 to 65536")
        if type(symbols) is not int or not 2 <= symbols <= MOST_SYMBOLS:
            raise SettingsError(f"symbols={symbols!r}: give 2 to {MOST_SYMBOLS}, with the end among them")
        if not 0 <= forgetting < 1:
            raise SettingsError(f"forgetting={forgetting}: give a share of at least 0 and below 1")
        if not (kl_weight > 0 and math.isfinite(kl_weight)):
            raise SettingsError(f"kl_weight={kl_weight}: give a number above 0")
        self.settings = sizes | {"symbols": symbols, "forgetting": forgetting, "kl_weight": kl_weight}
        self.input_shape, self.symbols = (length,), symbols
        self.latent_size = self.noise_size = latent_size
        self.forgetting, self.kl_weight = float(forgetting), float(kl_weight)
        self.encoder = SequenceEncoder(length, symbols, latent_size, embedding, hidden)
        self.decoder = SequenceDecoder(symbols, latent_size, embedding, hidden)

    @property
    def training_noise_size(self) -> int:
        """One for each latent, and one for each place that may be forgotten."""
        return self.latent_size + (self.input_shape[0] if self.forgetting else 0)

    @property
    def explained_by(self) -> Literal["terms", "occlusion"]:
        """Each symbol's own part of the log-likelihood."""
        return "terms"

    def parts(self) -> dict[str, torch.nn.Module]:
        """Decoder and encoder."""
        return {"decoder": self.decoder, "encoder": self.encoder}

    def initialise_(self, generator: torch.Generator) -> None:
        """Draws both networks' weights anew (:func:`dissensus.models.initialise`)."""
        initialise(self.encoder, generator)
        initialise(self.decoder, generator)

    def read(self, x: Tensor) -> Tensor:
        """Symbols as whole numbers."""
        return x.long()

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and log σ of q(z|x), two of (N, Z)."""
        mean, log_std = self.encoder(self.read(x)).chunk(2, dim=1)
        return mean, log_std.clamp(*LOG_STD_RANGE)

    def infer(self, x: Tensor) -> Inferred:
        """Mean and log σ of q(z|x), two of (N, Z)."""
        return self.encode(x)

    def terms(self, x: Tensor, z: Tensor, forget: Tensor | None = None) -> Tensor:
        """log p(x_t | x_<t, z) of every place (N, L), zero behind the end."""
        x = self.read(x)
        chosen = self._told(x, z, forget).gather(2, x[:, :, None])[:, :, 0]
        return torch.where(_counts(x), chosen, 0.0)

    def log_prob(self, x: Tensor, z: Tensor) -> Tensor:
        """log p(x|z) (N,) in float64."""
        return self.terms(x, z).sum(1, dtype=torch.float64)

    def objective(self, x: Tensor, noise: Tensor) -> Tensor:
        """The evidence lower bound (B,), or what :attr:`kl_weight` makes of it."""
        mean, log_std = self.encode(x)
        own, rest = noise[:, : self.latent_size], noise[:, self.latent_size :]
        forget = None
        if self.forgetting and rest.shape[1]:
            forget = rest < math.sqrt(2) * torch.erfinv(torch.tensor(2 * self.forgetting - 1)).item()
        kl = 0.5 * ((2 * log_std).exp() + mean.square() - 1) - log_std
        log_p = self.terms(x, mean + log_std.exp() * own, forget).sum(1, dtype=torch.float64)
        return log_p - self.kl_weight * kl.sum(1, dtype=torch.float64)

    def log_likelihood(self, x: Tensor, noise: Tensor, inferred: Inferred) -> tuple[Tensor, Tensor]:
        """log p̂(x) (N,) by importance sampling from q(z|x), and its Monte-Carlo error (N,)."""
        mean, log_std = inferred
        return importance_log_likelihood(
            self.log_prob, self.read(x), importance_samples(mean, log_std, noise)
        )

    def pooled(self, inferred: Sequence[Inferred]) -> Inferred:
        """Means and log σ of all encoders (N, E, Z)."""
        means, log_stds = zip(*inferred, strict=True)
        return torch.stack(means, dim=1), torch.stack(log_stds, dim=1)

    def observe(self, x: Tensor, inferred: Inferred) -> dict[str, Tensor]:
        """What one pass at z = μ_z tells, and each symbol's own term."""
        mean, log_std = inferred
        terms = self.terms(x, mean).double()
        norm = mean.double().square().sum(1).clamp(min=torch.finfo(torch.float64).tiny)
        return {
            "terms": terms,
            "regret": -terms.sum(1),
            "log_norm": norm.log(),
            "log_volume": 2 * log_std.sum(1, dtype=torch.float64),
        }

    def sample(self, z: Tensor, generator: torch.Generator) -> Tensor:
        """Sequences (N, L) drawn from p(x|z)."""
        shape = (len(z), self.input_shape[0])
        return _written([self], z, torch.rand(shape, generator=generator, device=z.device))

    def drawn(self, z: Tensor, seed: int) -> Tensor:
        """Sequences (N, L) drawn from p(x|z), each by the same uniform numbers."""
        generator = torch.Generator(device=z.device).manual_seed(seed)
        uniform = torch.rand(self.input_shape[0], generator=generator, device=z.device)
        return _written([self], z, uniform.expand(len(z), -1))

    def reconstruct(self, x: Tensor, inferred: Inferred) -> Tensor:  # noqa: ARG002
        """At z = μ_z, always the symbol that is the most probable one."""
        return _written([self], inferred[0], None)

    def together(self, models: Sequence[Self], z: Tensor) -> Tensor:
        """Always the most probable symbol under the mixture of draws, given those before it."""
        return _written(models, z, None)

    def outputs(self, z: Tensor, x: Tensor | None) -> Tensor:
        """Log-probabilities of the symbols (N, L, V), given those of x before; behind the end only an end."""
        if x is None:
            raise DataError("symbols are given those before them: pass the sequences that are meant")
        x = self.read(x)
        ended = torch.full((self.symbols,), NEVER, device=z.device)
        ended[END] = 0.0
        return torch.where(_counts(x)[:, :, None], self._told(x, z, None), ended)

    def information(self, outputs: Tensor) -> Tensor:
        """What each place's symbol tells of the draw, summed over places: (M, N, L, V) → (N,) nats."""
        return information_of_categories(outputs).sum(1)

    @classmethod
    def for_inputs(
        cls,
        shape: tuple[int, ...],  # noqa: ARG003
        *,
        clip: float | None,  # noqa: ARG003
        generator: torch.Generator,  # noqa: ARG003
    ) -> Self:
        """Never: the number of symbols cannot be told from a shape."""
        raise SettingsError(
            "a model of sequences has to know its symbols: pass embed=Vocabulary.of(texts), or an object, "
            "model=Sequences(length, symbols)"
        )

    def facts(self) -> dict[str, Any]:
        """The sizes of the latent space and of the vocabulary."""
        return {"latent_size": self.latent_size, "symbols": self.symbols}

    def config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return dict(self.settings)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """The inverse of :meth:`config`."""
        return cls(**config)

    def _told(self, x: Tensor, z: Tensor, forget: Tensor | None) -> Tensor:
        """Log-probabilities (N, L, V) of each symbol, given z and the true symbols before it."""
        first = self.decoder.before_the_first(len(x), x.device)
        before = torch.cat([first, x[:, :-1]], dim=1)
        if forget is not None:
            before = self.decoder.forgotten(before, forget)
        told: Tensor = self.decoder(z, before, self.decoder.begin(z))[0]
        return told


def _written(models: Sequence[Sequences], z: Tensor, uniform: Tensor | None) -> Tensor:
    """Sequences (N, L) by inversion of uniform numbers (N, L), or by the most probable symbol each.

    Of several draws the mixture writes: each counts by how probable it finds what is written already.
    """
    (length,), count = models[0].input_shape, len(z)
    before = models[0].decoder.before_the_first(count, z.device)
    states = [model.decoder.begin(z) for model in models]
    written = torch.full((count, length), END, device=z.device)
    going = torch.ones(count, dtype=torch.bool, device=z.device)
    log_weights = torch.zeros(len(models), count, 1, dtype=torch.float64, device=z.device)
    for place in range(length):
        each = []
        for number, model in enumerate(models):
            told, states[number] = model.decoder(z, before, states[number])
            each.append(told[:, 0])
        told = each[0]
        if len(models) > 1:
            own = torch.stack(each).double() + log_weights
            told = own.logsumexp(0) - log_weights.logsumexp(0)
        if uniform is None:
            symbol = told.argmax(1)
        else:
            below = told.double().exp().cumsum(1)
            symbol = (below < uniform[:, place, None] * below[:, -1:]).sum(1)
        if len(models) > 1:
            log_weights = own.gather(2, symbol[None, :, None].expand(len(models), -1, -1))
        written[:, place] = torch.where(going, symbol, END)
        going = going & (symbol != END)
        if not going.any():
            break
        before = symbol[:, None]
    return written


def _counts(x: Tensor) -> Tensor:
    """Whether a place is not behind an end, (N, L)."""
    return torch.cat([torch.ones_like(x[:, :1]), (x[:, :-1] != END).long().cumprod(1)], dim=1).bool()
