"""The ensemble of classifiers that stands in for ground truth about latent points (section 5.2)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from dissensus.models import initialise
from dissensus.models.inputs import unit_scale
from dissensus.seeding import torch_stream

__all__ = ["class_probabilities", "mutual_information", "train_classifier"]


def train_classifier(
    images: Tensor,
    labels: Tensor,
    *,
    epochs: int,
    seed: int,
    batch_size: int = 256,
    learning_rate: float = 1e-3,
) -> nn.Module:
    """A small convolutional classifier of uint8 images (N, C, H, W) with labels (N,), on their device."""
    device, channels, side = images.device, images.shape[1], images.shape[2] // 4
    with torch.random.fork_rng(devices=[]):
        network = nn.Sequential(
            nn.Conv2d(channels, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(64 * side * side, 128),
            nn.ReLU(),
            nn.Linear(128, int(labels.max()) + 1),
        )
    initialise(network, torch_stream(seed, "classifier", "initialisation"))
    network.to(device)
    optimiser = torch.optim.Adam(network.parameters(), lr=learning_rate)
    generator = torch_stream(seed, "classifier", "order", device=device)
    for _ in range(epochs):
        order = torch.randperm(len(images), generator=generator, device=device)
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            optimiser.zero_grad(set_to_none=True)
            loss = F.cross_entropy(network(unit_scale(images[rows])), labels[rows].long())
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    return network.eval()


@torch.no_grad()
def class_probabilities(networks: list[nn.Module], x: Tensor, *, batch_size: int = 8192) -> Tensor:
    """p(y|x, w_j) of every classifier: x (N, C, H, W) in [0, 1] → (J, N, classes) in float64."""
    rows = [
        torch.cat(
            [
                network(x[start : start + batch_size]).double().softmax(1)
                for start in range(0, len(x), batch_size)
            ]
        )
        for network in networks
    ]
    return torch.stack(rows)


def mutual_information(probabilities: Tensor) -> Tensor:
    r"""Q_W: (J, N, classes) → (N,) nats, the classifiers' disagreement about the class (Houlsby et al. 2011).

    .. math:: \mathrm{H}\Bigl(\frac{1}{J} \sum_j p_j\Bigr) - \frac{1}{J} \sum_j \mathrm{H}(p_j)

    >>> certain_but_split = torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]]])
    >>> mutual_information(certain_but_split)
    tensor([0.6931])
    """
    return _entropy(probabilities.mean(0)) - _entropy(probabilities).mean(0)


def _entropy(p: Tensor) -> Tensor:
    nats: Tensor = torch.special.entr(p)
    return nats.sum(-1)
