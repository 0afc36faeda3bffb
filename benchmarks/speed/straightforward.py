"""The paper's method as one would write it in an afternoon, in plain PyTorch: what we are timed against.

Modules, a data loader, an optimiser class that loops over the tensors, and scoring one draw and one batch of
images at a time. Nothing of the package is used here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from torch.utils.data import DataLoader, TensorDataset

__all__ = ["PlainVAE", "ScaleAdaptedSGHMC", "Training", "convolutional_vae", "dense_vae", "score"]

Draw = Mapping[str, Tensor]


class PlainVAE(nn.Module):
    """Bernoulli pixels, a Gaussian encoder."""

    def __init__(self, encoder: nn.Module, decoder: nn.Module) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """(B, *S) → mean and log σ, each (B, Z)."""
        mean, log_std = self.encoder(x).chunk(2, dim=1)
        return mean, log_std.clamp(-10, 5)

    def elbo(self, x: Tensor) -> Tensor:
        """(B, *S) → (B,)."""
        mean, log_std = self.encode(x)
        z = mean + log_std.exp() * torch.randn_like(mean)
        logits = self.decoder(z)
        log_p = -F.binary_cross_entropy_with_logits(logits, x, reduction="none").flatten(1).sum(1)
        kl = 0.5 * (mean.square() + (2 * log_std).exp() - 1 - 2 * log_std).sum(1)
        return log_p - kl


def convolutional_vae(latent_size: int = 50, hidden: int | None = 256) -> PlainVAE:
    """For 28×28 grey images: 4×4 convolutions of 32 and 64 channels and perhaps a dense layer, mirrored."""
    encoder_head: list[nn.Module] = [nn.Linear(64 * 7 * 7, 2 * latent_size)]
    decoder_head: list[nn.Module] = [nn.Linear(latent_size, 64 * 7 * 7)]
    if hidden is not None:
        encoder_head = [nn.Linear(64 * 7 * 7, hidden), nn.ReLU(), nn.Linear(hidden, 2 * latent_size)]
        decoder_head = [nn.Linear(latent_size, hidden), nn.ReLU(), nn.Linear(hidden, 64 * 7 * 7)]
    encoder = nn.Sequential(
        nn.Conv2d(1, 32, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(32, 64, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        *encoder_head,
    )
    decoder = nn.Sequential(
        *decoder_head,
        nn.ReLU(),
        nn.Unflatten(1, (64, 7, 7)),
        nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.ConvTranspose2d(32, 1, 4, stride=2, padding=1),
    )
    return PlainVAE(encoder, decoder)


def dense_vae(input_size: int, latent_size: int, widths: Sequence[int]) -> PlainVAE:
    """For vectors: fully connected layers with ReLU, mirrored."""
    return PlainVAE(
        _dense([input_size, *widths, 2 * latent_size]), _dense([latent_size, *reversed(widths), input_size])
    )


def _dense(sizes: Sequence[int]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for before, after in itertools.pairwise(sizes):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class ScaleAdaptedSGHMC(torch.optim.Optimizer):
    """The sampler of Springenberg et al. (2016), tensor by tensor; gradients are those of the mean loss."""

    def __init__(
        self, parameters: Iterator[nn.Parameter], *, N: int, lr: float = 1e-2, decay: float = 0.05
    ) -> None:
        super().__init__(parameters, {"lr": lr, "decay": decay})
        self.N = N

    def resample_precision(self) -> None:
        """The Gibbs step of the Gamma(1, 1) hyperprior, one precision a tensor."""
        for group in self.param_groups:
            for p in group["params"]:
                shape, rate = 1 + p.numel() / 2, 1 + float(p.detach().square().sum()) / 2
                gamma = torch.distributions.Gamma(torch.tensor(shape), torch.tensor(rate))
                self.state[p]["precision"] = float(gamma.sample())

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]  # noqa: ARG002
        """One step of every tensor."""
        for group in self.param_groups:
            lr, decay = group["lr"], group["decay"]
            for p in group["params"]:
                state = self.state[p]
                if "tau" not in state:
                    state["tau"], state["g"], state["V"] = (torch.ones_like(p) for _ in range(3))
                    state["v"] = torch.zeros_like(p)
                tau, g, V, v = (state[name] for name in ("tau", "g", "V", "v"))
                gradient = self.N * p.grad + state.get("precision", 1.0) * p
                rho = 1 / (tau + 1)
                tau += 1 - tau * g * g / (V + 1e-8)
                g += rho * (gradient - g)
                V += rho * (gradient**2 - V)
                inverse = 1 / (torch.sqrt(V) + 1e-8)
                variance = torch.clamp(2 * lr**2 * decay * inverse - lr**4, min=0)
                v += -(lr**2) * inverse * gradient - decay * v + torch.sqrt(variance) * torch.randn_like(p)
                p += v


class Training:
    """Variant 1: Adam moves the encoder, the sampler the decoder; an epoch at a time."""

    def __init__(
        self, vae: PlainVAE, images: Tensor, *, batch_size: int, device: torch.device, workers: int = 0
    ) -> None:
        self.vae = vae.to(device)
        self.device = device
        self.loader = DataLoader(
            TensorDataset(images),
            batch_size,
            shuffle=True,
            drop_last=True,
            num_workers=workers,
            persistent_workers=workers > 0,
            pin_memory=device.type == "cuda",
        )
        self.optimiser = torch.optim.Adam(self.vae.encoder.parameters(), lr=1e-3)
        self.sampler = ScaleAdaptedSGHMC(self.vae.decoder.parameters(), N=len(images))

    def epoch(self) -> float:
        """Runs through all images once; the mean loss."""
        self.sampler.resample_precision()
        total = torch.zeros((), device=self.device)
        for (x,) in self.loader:
            x = x.to(self.device, non_blocking=True)
            loss = -self.vae.elbo(x).mean()
            self.optimiser.zero_grad()
            self.sampler.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimiser.step()
            self.sampler.step()
            total += loss.detach()
        return float(total) / len(self.loader)

    def draw(self) -> Draw:
        """A copy of the weights."""
        return {name: weight.detach().clone() for name, weight in self.vae.state_dict().items()}


@torch.no_grad()
def score(
    vae: PlainVAE,
    draws: Sequence[Draw],
    images: Tensor,
    *,
    samples: int,
    batch_size: int,
    device: torch.device,
    repeat: bool,
) -> Tensor:
    """Importance-sampled log p(x) of images (N, *S) under each draw: (M, N).

    The K samples of an image are rows of one batch (``repeat``), or one batch after the other.
    """
    vae = vae.to(device)
    loader = DataLoader(TensorDataset(images), batch_size)
    matrix = []
    for draw in draws:
        vae.load_state_dict(draw)
        row = []
        for (x,) in loader:
            x = x.to(device)
            mean, log_std = vae.encode(x)
            if repeat:
                many = [t.repeat_interleave(samples, dim=0) for t in (x, mean, log_std)]
                log_weights = _log_weight(vae, *many).view(len(x), samples)
            else:
                log_weights = torch.stack([_log_weight(vae, x, mean, log_std) for _ in range(samples)], dim=1)
            row.append(torch.logsumexp(log_weights, dim=1) - math.log(samples))
        matrix.append(torch.cat(row).cpu())
    return torch.stack(matrix)


def _log_weight(vae: PlainVAE, x: Tensor, mean: Tensor, log_std: Tensor) -> Tensor:
    noise = torch.randn_like(mean)
    z = mean + log_std.exp() * noise
    log_p = -F.binary_cross_entropy_with_logits(vae.decoder(z), x, reduction="none").flatten(1).sum(1)
    return log_p + (0.5 * (noise.square() - z.square()) + log_std).sum(1)
