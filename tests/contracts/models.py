"""Two models that share nothing with ours but the contract."""

from __future__ import annotations

import copy
import math

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.models import GenerativeModel, Inferred, LatentModel, Observed
from dissensus.models.importance import importance_log_likelihood, importance_samples
from dissensus.posterior import PartDraws, WeightDraws


class LinearGaussian(GenerativeModel):
    """x = W z + b + σ ε with z, ε standard normal: log p(x) is that of N(b, W Wᵀ + σ² I), exactly."""

    capturable = False  # a Cholesky factor is checked, which waits for the device

    def __init__(self, size: int = 5, latents: int = 2) -> None:
        super().__init__()
        self.input_shape = (size,)
        self.loadings = nn.Parameter(torch.zeros(size, latents))
        self.bias = nn.Parameter(torch.zeros(size))
        self.log_scale = nn.Parameter(torch.zeros(()))

    def initialise_(self, generator: torch.Generator) -> None:
        with torch.no_grad():
            self.loadings.copy_(torch.randn(self.loadings.shape, generator=generator) / 2)
            self.bias.zero_()
            self.log_scale.zero_()

    def objective(self, x: Tensor, noise: Tensor) -> Tensor:
        return self.log_likelihood(x, noise, ())[0]

    def log_likelihood(self, x: Tensor, noise: Tensor, inferred: Inferred) -> tuple[Tensor, Tensor]:
        W, variance = self.loadings.double(), (2 * self.log_scale.double()).exp()
        factor = torch.linalg.cholesky(W @ W.T + variance * torch.eye(len(W), dtype=W.dtype, device=W.device))
        # Row by row, so that no row's bits depend on how many there are.
        centred = (x.double() - self.bias.double())[:, :, None]
        whitened = torch.linalg.solve_triangular(factor.expand(len(x), -1, -1), centred, upper=False)
        log_p = -0.5 * whitened.square().sum((1, 2)) - factor.diagonal().log().sum()
        return log_p - 0.5 * len(W) * math.log(2 * math.pi), torch.zeros_like(log_p)

    def config(self):
        return {"size": len(self.bias), "latents": self.loadings.shape[1]}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class Tokens(LatentModel):
    """Sequences of L tokens out of V: p(x|z) by a GRU with teacher forcing, q(z|x) by a bag of tokens."""

    inference = ("encoder",)
    observed = {"token-regret": Observed("−log p(x|z = μ_z)", "upper", "regret")}  # noqa: RUF012

    def __init__(self, length: int = 6, vocabulary: int = 5, latents: int = 2, hidden: int = 8) -> None:
        super().__init__()
        self.input_shape, self.vocabulary = (length,), vocabulary
        self.settings = {"length": length, "vocabulary": vocabulary, "latents": latents, "hidden": hidden}
        self.latent_size = self.noise_size = latents
        self.encoder = nn.Linear(length * vocabulary, 2 * latents)
        self.decoder = nn.ModuleDict(
            {
                "embed": nn.Embedding(vocabulary + 1, hidden),  # the last one starts a sequence
                "start": nn.Linear(latents, hidden),
                "cell": nn.GRUCell(hidden, hidden),
                "head": nn.Linear(hidden, vocabulary),
            }
        )

    def parts(self):
        return {"decoder": self.decoder, "encoder": self.encoder}

    def initialise_(self, generator: torch.Generator) -> None:
        with torch.no_grad():
            for parameter in self.parameters():
                scale = 1 / math.sqrt(parameter.shape[-1]) if parameter.ndim > 1 else 0.0
                parameter.copy_(scale * torch.randn(parameter.shape, generator=generator))

    def read(self, x: Tensor) -> Tensor:
        return x.long()

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        bag = nn.functional.one_hot(self.read(x), self.vocabulary).float().flatten(1)
        mean, log_std = self.encoder(bag).chunk(2, dim=1)
        return mean, log_std.clamp(-6.0, 2.0)

    def infer(self, x: Tensor) -> Inferred:
        return self.encode(x)

    def log_prob(self, x: Tensor, z: Tensor) -> Tensor:
        x = self.read(x)
        state, total = (
            self.decoder["start"](z).tanh(),
            torch.zeros(len(x), dtype=torch.float64, device=z.device),
        )
        before = torch.full_like(x[:, 0], self.vocabulary)
        for token in x.T:
            state = self.decoder["cell"](self.decoder["embed"](before), state)
            log_p = self.decoder["head"](state).log_softmax(1).double()
            total = total + log_p.gather(1, token[:, None])[:, 0]
            before = token
        return total

    def objective(self, x: Tensor, noise: Tensor) -> Tensor:
        mean, log_std = self.encode(x)
        kl = 0.5 * ((2 * log_std).exp() + mean.square() - 1) - log_std
        return self.log_prob(x, mean + log_std.exp() * noise) - kl.sum(1, dtype=torch.float64)

    def log_likelihood(self, x: Tensor, noise: Tensor, inferred: Inferred) -> tuple[Tensor, Tensor]:
        return importance_log_likelihood(self.log_prob, self.read(x), importance_samples(*inferred, noise))

    def observe(self, x: Tensor, inferred: Inferred) -> dict[str, Tensor]:
        return {"regret": -self.log_prob(x, inferred[0])}

    def sample(self, z: Tensor, generator: torch.Generator) -> Tensor:
        state, drawn = self.decoder["start"](z).tanh(), []
        before = torch.full((len(z),), self.vocabulary, device=z.device)
        for _ in range(self.input_shape[0]):
            state = self.decoder["cell"](self.decoder["embed"](before), state)
            before = self.decoder["head"](state).softmax(1).multinomial(1, generator=generator)[:, 0]
            drawn.append(before)
        return torch.stack(drawn, dim=1)

    def reconstruct(self, x: Tensor, inferred: Inferred) -> Tensor:
        return self.sample(inferred[0], torch.Generator(device=x.device).manual_seed(0))

    def config(self):
        return dict(self.settings)

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def random_draws(model, count=5, chains=2, shared=True):
    """Draws from the initialisation; those of a chain share their inference parts, unless told otherwise."""
    chain = np.arange(count) * chains // count
    parts = {}
    for part in model.parts():
        together = shared and part in model.inference
        of = chain if together else np.arange(count)
        stacks = []
        for number in range(int(of.max()) + 1):
            own = copy.deepcopy(model)
            own.initialise_(torch.Generator().manual_seed(100 + number))
            stacks.append({n: p.detach().clone() for n, p in own.parts()[part].named_parameters()})
        parts[part] = PartDraws({n: torch.stack([s[n] for s in stacks]) for n in stacks[0]}, of)
    return WeightDraws(parts, chain, np.arange(count) + 1)
