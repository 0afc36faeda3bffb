"""
A generative model of your own
==============================

All of the package works with it, also the command line and the service.

Probabilistic PCA, x = W z + b + σ ε, whose log-likelihood is exact: no importance sampling is needed. Rows
near a plane are fitted; then rows off the plane are asked about. Takes a few seconds.
"""

import math

import matplotlib.pyplot as plt
import numpy as np
import torch

from dissensus import Detector
from dissensus.evaluation import auroc
from dissensus.models import GenerativeModel


# 1. The model: what it is trained by, what an input's log-likelihood is, and how it is made again.
class ProbabilisticPCA(GenerativeModel):
    """p(x) = N(b, W Wᵀ + σ² I). Where only the class is named, it is called with the inputs' shape."""

    def __init__(self, shape, latents=2):
        super().__init__()
        self.input_shape = tuple(shape)
        self.loadings = torch.nn.Parameter(torch.zeros(*shape, latents))
        self.bias = torch.nn.Parameter(torch.zeros(*shape))
        self.log_scale = torch.nn.Parameter(torch.zeros(()))

    def initialise_(self, generator):
        with torch.no_grad():
            self.loadings.copy_(torch.randn(self.loadings.shape, generator=generator))
            self.log_scale.fill_(-1)

    def objective(self, x, noise):
        return self.log_likelihood(x, noise, ())[0]

    def log_likelihood(self, x, noise, inferred):
        W, variance = self.loadings.double(), (2 * self.log_scale.double()).exp()
        factor = torch.linalg.cholesky(W @ W.T + variance * torch.eye(len(W), dtype=W.dtype, device=W.device))
        whitened = torch.linalg.solve_triangular(factor, (x.double() - self.bias).T, upper=False)
        log_p = -0.5 * whitened.square().sum(0) - factor.diagonal().log().sum()
        return log_p - 0.5 * len(W) * math.log(2 * math.pi), torch.zeros_like(log_p)

    def config(self):
        return {"shape": list(self.input_shape), "latents": self.loadings.shape[1]}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


# 2. Rows near a plane and rows that left it; a detector with that model, saved and loaded.
if __name__ == "__main__":
    rng = np.random.default_rng(0)
    codes, plane = rng.normal(size=(1200, 2)), rng.normal(size=(2, 5))
    near = codes @ plane + 0.1 * rng.normal(size=(1200, 5))
    far = near[800:] + 0.5 * rng.normal(size=(400, 5))
    Detector(model=ProbabilisticPCA(shape=(5,)), chains=4).fit(near[:800]).save("gate")
    gate = Detector.load("gate", model=ProbabilisticPCA)
    asked = {"near the plane": near[800:], "off it": far}
    near, far = (gate.decide(rows) for rows in asked.values())
    shares = f"{near.flagged.mean():.0%} flagged near the plane, {far.flagged.mean():.0%} off it"
    print(f"{shares}; AUROC {auroc(near.score, far.score):.3f}")

    # 3. The model was never told the plane; the score grows with the distance from it.
    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    for (name, rows), found in zip(asked.items(), (near, far), strict=True):
        beside = rows - rows @ np.linalg.pinv(plane) @ plane
        axes.scatter(np.linalg.norm(beside, axis=1), found.score, s=6, label=name)
    axes.axhline(gate.threshold_, color="black", lw=1, label="flagged above")
    axes.set(xlabel="distance from the plane", ylabel="score")
    axes.legend()
    figure.savefig("own_model.png", dpi=120)
