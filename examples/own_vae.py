"""
Networks of your own in a VAE
=============================

Any encoder and decoder in PyTorch, as the detector's or stage by stage.

Rows are points near a circle. Takes a few seconds.
"""

import os

import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn

from dissensus import VAE, BayesianVAE, SamplingSettings, log_likelihoods, sample_posterior
from dissensus.models import observation
from dissensus.posterior import SGHMC
from dissensus.scores import Measured, score

QUICK = bool(os.environ.get("DISSENSUS_QUICK"))
POINTS, LATENTS, HIDDEN = 1000, 1, 32
EPOCHS, DRAWS, CHAINS = (8, 4, 2) if QUICK else (150, 20, 2)


def circle(angles, random):
    """Points (N, 2) near the unit circle."""
    return np.stack([np.cos(angles), np.sin(angles)], axis=1) + 0.05 * random.normal(size=(len(angles), 2))


class Encoder(nn.Module):
    """(B, 2) → mean and log σ of q(z|x), (B, Z) each. No batch normalisation and no dropout."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, HIDDEN), nn.SiLU(), nn.Linear(HIDDEN, HIDDEN), nn.SiLU())
        self.mean, self.log_std = nn.Linear(HIDDEN, LATENTS), nn.Linear(HIDDEN, LATENTS)

    def forward(self, x):
        """Two heads on one body."""
        hidden = self.body(x)
        return self.mean(hidden), self.log_std(hidden)


def decoder(numbers):
    """(B, Z) → ``numbers`` for each row: as many for each input dimension as the observation model asks."""
    return nn.Sequential(
        nn.Linear(LATENTS, HIDDEN),
        nn.SiLU(),
        nn.Linear(HIDDEN, HIDDEN),
        nn.SiLU(),
        nn.Linear(HIDDEN, numbers),
    )


torch.manual_seed(0)  # your networks are born with your weights; everything else has its own seed
random = np.random.default_rng(0)
rows = circle(random.uniform(0, 2 * np.pi, POINTS), random)
questions = {"on the circle": [0.0, 1.0], "inside it": [0.1, 0.0], "outside": [2.0, 2.0]}

# 1. In the detector: the two networks replace the built-in ones, everything else stays.
gaussian = observation("gaussian", scale=0.2)  # one number for each dimension
gate = BayesianVAE(
    encoder=Encoder(),
    decoder=decoder(2),
    latent_size=LATENTS,
    observation=gaussian,
    statistic="mixture-ll",
    epochs=EPOCHS,
    draws=DRAWS,
    chains=CHAINS,
).fit(rows)
for name, point in questions.items():
    print(f"{name:<14} p-value {gate.p_values([point])[0]:.3f}")
gate.save("circle-gate")
gate = BayesianVAE.load("circle-gate", encoder=Encoder(), decoder=decoder(2))  # code is never in the file

# 2. Stage by stage: draws, the matrix of log-likelihoods (draws, inputs), and any score of it.
vae = VAE(Encoder(), decoder(2), gaussian, input_shape=(2,), latent_size=LATENTS)
settings = SamplingSettings.variant_1(
    SGHMC(step_size=1e-2), epochs=EPOCHS, burn_in=EPOCHS - DRAWS // CHAINS, chains=CHAINS, batch_size=64
)
draws = sample_posterior(vae, torch.tensor(rows, dtype=torch.float32), settings, seed=0)
matrix = log_likelihoods(vae, draws, torch.tensor(list(questions.values())), samples=64)
print(f"\n{matrix.values.shape[0]} draws, {matrix.values.shape[1]} inputs; higher = more unusual")
for name in ("mixture-ll", "kl", "ess"):
    print(f"{name:<12}", *(f"{score:9.2f}" for score in score(name)(Measured(matrix.values))))

# 3. What the detector thinks of every place of the plane.
side = np.linspace(-2, 2, 20 if QUICK else 60)
places = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
figure, axes = plt.subplots(figsize=(5.2, 4.2), layout="constrained")
shades = axes.pcolormesh(side, side, gate.p_values(places).reshape(len(side), -1), cmap="cividis", vmin=0)
axes.scatter(*rows[:300].T, s=3, color="white", label="training rows")
axes.set_aspect("equal")
axes.legend(loc="upper right")
figure.colorbar(shades, label="p-value")
figure.savefig("own_vae.png", dpi=120)
