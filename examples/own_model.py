"""A generative model of your own: 30 lines, and every posterior, the matrix and every score work with it.

Probabilistic PCA, x = W z + b + σ ε, whose log-likelihood is exact: no importance sampling is needed. Rows
that lie near a plane are fitted; then rows off the plane are asked about. Takes a few seconds.
"""

import math

import numpy as np
import torch
from torch import Tensor, nn

from dissensus.evaluation import auroc
from dissensus.likelihood import log_likelihoods
from dissensus.models import GenerativeModel, Inferred
from dissensus.posterior import posterior_settings, sample_posterior
from dissensus.scores import Measured, score

COLUMNS, LATENTS, ROWS, EPOCHS = 5, 2, 400, 200


# 1. The model: what it is trained by, and what an input's log-likelihood is.
class ProbabilisticPCA(GenerativeModel):
    """p(x) = N(b, W Wᵀ + σ² I)."""

    def __init__(self) -> None:
        super().__init__()
        self.input_shape = (COLUMNS,)
        self.loadings = nn.Parameter(torch.zeros(COLUMNS, LATENTS))
        self.bias = nn.Parameter(torch.zeros(COLUMNS))
        self.log_scale = nn.Parameter(torch.zeros(()))

    def initialise_(self, generator: torch.Generator) -> None:
        with torch.no_grad():
            self.loadings.copy_(torch.randn(COLUMNS, LATENTS, generator=generator))
            self.log_scale.fill_(-1)

    def objective(self, x: Tensor, noise: Tensor) -> Tensor:
        return self.log_likelihood(x, noise, ())[0]

    def log_likelihood(self, x: Tensor, noise: Tensor, inferred: Inferred) -> tuple[Tensor, Tensor]:
        W, variance = self.loadings.double(), (2 * self.log_scale.double()).exp()
        factor = torch.linalg.cholesky(W @ W.T + variance * torch.eye(COLUMNS, dtype=torch.float64))
        whitened = torch.linalg.solve_triangular(factor, (x.double() - self.bias).T, upper=False)
        log_p = -0.5 * whitened.square().sum(0) - factor.diagonal().log().sum()
        return log_p - 0.5 * COLUMNS * math.log(2 * math.pi), torch.zeros_like(log_p)


# 2. Rows near a plane, and rows that left it by half a unit in every direction.
generator = torch.Generator().manual_seed(0)
plane = torch.randn(COLUMNS, LATENTS, generator=generator)
near = torch.randn(2 * ROWS, LATENTS, generator=generator) @ plane.T
near += 0.1 * torch.randn(near.shape, generator=generator)
far = near[ROWS:] + 0.5 * torch.randn(ROWS, COLUMNS, generator=generator)

# 3. Draws from the posterior, by any rule; their log-likelihoods, computed once; scores of them.
for posterior in ("sghmc", "swag", "ensemble"):
    settings = posterior_settings(
        posterior, epochs=EPOCHS, draws=8, chains=4, batch_size=40, learning_rate=1e-2
    )
    draws = sample_posterior(ProbabilisticPCA(), near[:ROWS], settings, seed=0, held_out=near[:50])
    normal, strange = (log_likelihoods(ProbabilisticPCA(), draws, x).values for x in (near[ROWS:], far))
    found = {
        name: auroc(score(name)(Measured(normal)), score(name)(Measured(strange)))
        for name in ("mean-ll", "ess")
    }
    print(f"{posterior}: {len(draws)} draws, AUROC " + ", ".join(f"{n} {v:.3f}" for n, v in found.items()))
    assert np.isfinite(normal).all()
