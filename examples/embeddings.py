"""
Pictures of things, through an encoder
======================================

A small network made here, and a gate on what it sees.

Photographs show things in any light. Here clothes are put before backgrounds of any brightness, lit from any
side, and an encoder learns to tell seven kinds of them apart. The gate is fitted on other pictures of these
kinds, without labels, and asked about three kinds that neither has ever seen. Beside it stand a VAE of the
same vectors, the distance to the 5th nearest of them, and a VAE of the pixels, to which light is most of what
there is. Of clothes as they are, without the light, a VAE of the pixels finds more than a gate on such
vectors does. Takes half a minute on one core; DISSENSUS_QUICK=1 makes it a rehearsal of seconds, whose
answers are poor.
"""

import os

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.neighbors import NearestNeighbors
from torch import nn

from dissensus import BayesianVAE, Detector, load_sample
from dissensus.evaluation import auroc

QUICK = bool(os.environ.get("DISSENSUS_QUICK"))
UNSEEN = (1, 5, 8)  # trousers, sandals, bags
PICTURES = 400 if QUICK else 6000  # of which seven tenths are of kinds that the encoder learns
EPOCHS = 1 if QUICK else 20
SETTINGS = {"epochs": 4} if QUICK else {}
VAE_SETTINGS = {"epochs": 4, "draws": 4, "samples": 4} if QUICK else {"epochs": 60}
PIXEL_SETTINGS = {"epochs": 2 if QUICK else 8, "draws": 4, "samples": 4, "widths": (8, 16)}
GATE = "things-gate"


class Encoder(nn.Module):
    """Pictures (N, 1, 28, 28) in [0, 1] to what the last layer but one sees in them (N, 32)."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 16, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(16, 32, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(32 * 7 * 7, 32),
        )

    def forward(self, pictures):
        return self.layers(pictures)


def lit(pictures, random):
    """Clothes (N, 28, 28) before a background of some brightness, in light from some side."""
    count = (len(pictures), 1, 1)
    y, x = np.mgrid[-1:1:28j, -1:1:28j]
    angle = random.uniform(0, 2 * np.pi, count)
    slope = random.uniform(0, 50, count) * (np.cos(angle) * x + np.sin(angle) * y)
    shown = random.uniform(60, 110, count) + slope + random.uniform(0.25, 0.45, count) * pictures
    return shown.clip(0, 255).astype(np.uint8)


def trained(pictures, labels, random):
    """An encoder whose vectors a linear layer can tell the labels by, in any light."""
    torch.manual_seed(0)
    encoder, head = Encoder(), nn.Linear(32, 10)
    wanted = torch.from_numpy(labels).long()
    optimiser = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=2e-3)
    for _ in range(EPOCHS):
        data = torch.from_numpy(lit(pictures, random))[:, None].float() / 255
        for batch in torch.randperm(len(data)).split(64):
            loss = nn.functional.cross_entropy(head(encoder(data[batch]).relu()), wanted[batch])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return encoder


def vectors(encoder, pictures):
    """The same by hand."""
    with torch.inference_mode():
        return encoder(torch.from_numpy(pictures)[:, None].float() / 255).numpy()


if __name__ == "__main__":
    torch.set_num_threads(1)
    random = np.random.default_rng(0)
    train, test = load_sample()
    known, new = ~np.isin(train.labels, UNSEEN), np.isin(test.labels, UNSEEN)
    images, labels = (values[:PICTURES][known[:PICTURES]] for values in (train.images, train.labels))
    half = len(images) // 2

    # 1. The encoder, and a gate on pictures that the encoder was not trained on: to a network, what it was
    #    trained on looks tidier than what comes later, and a threshold set by that would flag too much.
    encoder = trained(images[:half], labels[:half], random)
    inliers = lit(images[half:], random)
    gate = Detector(embed=encoder, **SETTINGS).fit(inliers)  # four flows of the vectors

    # 2. Keep it. The gate knows the encoder by its name and by the SHA-256 of its weights, and holds neither.
    gate.save(GATE)
    gate = Detector.load(GATE, embed=encoder)

    # 3. Ask, and compare.
    asked = lit(test.images[~new], random), lit(test.images[new], random)
    seen, unseen = (gate.decide(pictures) for pictures in asked)
    print(f"{seen.flagged.mean():.0%} of kinds it knows flagged, {unseen.flagged.mean():.0%} of others")
    print(f"gate on vectors:             AUROC {auroc(seen.score, unseen.score):.3f}")
    vae = BayesianVAE(embed=encoder, **VAE_SETTINGS).fit(inliers)
    print(f"the same with a VAE:         AUROC {auroc(*(vae.decide(some).score for some in asked)):.3f}")
    nearest = NearestNeighbors(n_neighbors=5).fit(vectors(encoder, inliers))
    far = (nearest.kneighbors(vectors(encoder, pictures))[0][:, 4] for pictures in asked)
    print(f"5th nearest training vector: AUROC {auroc(*far):.3f}")
    pixels = BayesianVAE(**PIXEL_SETTINGS).fit(inliers)
    print(f"gate on pixels:              AUROC {auroc(*(pixels.decide(some).score for some in asked)):.3f}")

    # 4. Kinds that the encoder knows above, others below, both with p-values.
    figure, axes = plt.subplots(2, 8, figsize=(11, 3.2), layout="constrained")
    for line, pictures, answers in zip(axes, asked, (seen, unseen), strict=True):
        for each, picture, p_value, flagged in zip(
            line, pictures, answers.p_value, answers.flagged, strict=False
        ):
            each.imshow(picture, cmap="gray", vmin=0, vmax=255)
            each.set_title(f"p = {p_value:.3f}", color="red" if flagged else "black")
            each.axis("off")
    figure.savefig("embeddings.png", dpi=120)
