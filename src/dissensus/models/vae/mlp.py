"""Fully connected encoder and decoder for vectors."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from dissensus.errors import SettingsError

__all__ = ["MLPDecoder", "MLPEncoder"]


def _perceptron(sizes: Sequence[int]) -> nn.Sequential:
    """Linear layers between consecutive sizes, with ReLU between them."""
    if min(sizes) < 1:
        raise SettingsError(f"MLP sizes {tuple(sizes)}: every size must be at least 1.")
    layers: list[nn.Module] = []
    for i in range(len(sizes) - 1):
        if i:
            layers.append(nn.ReLU())
        layers.append(nn.Linear(sizes[i], sizes[i + 1]))
    return nn.Sequential(*layers)


class MLPEncoder(nn.Module):
    """(B, D) → (B, 2Z): mean and log σ side by side. ``widths`` are the hidden layers' sizes."""

    def __init__(self, input_size: int, latent_size: int, *, widths: Sequence[int] = (256, 256)) -> None:
        super().__init__()
        self.widths = tuple(widths)
        self.layers = _perceptron((input_size, *self.widths, 2 * latent_size))

    def forward(self, x: Tensor) -> Tensor:
        """(B, D) → (B, 2Z)."""
        output: Tensor = self.layers(x)
        return output


class MLPDecoder(nn.Module):
    """(B, Z) → (B, Q·D). Takes the encoder's ``widths`` and uses them in reverse order."""

    def __init__(
        self,
        input_size: int,
        latent_size: int,
        parameters_per_dimension: int = 1,
        *,
        widths: Sequence[int] = (256, 256),
    ) -> None:
        super().__init__()
        self.widths = tuple(widths)
        self.layers = _perceptron((latent_size, *self.widths[::-1], parameters_per_dimension * input_size))

    def forward(self, z: Tensor) -> Tensor:
        """(B, Z) → (B, Q·D)."""
        output: Tensor = self.layers(z)
        return output
