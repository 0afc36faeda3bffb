"""The two networks of a model of sequences: one reads all symbols at once, one writes them in turn."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch
from torch import Tensor, nn

__all__ = ["SequenceDecoder", "SequenceEncoder"]


class SequenceEncoder(nn.Module):
    """Embeds the symbols of each place and passes them through two layers: (B, L) → (B, 2Z)."""

    def __init__(self, length: int, symbols: int, latent_size: int, embedding: int, hidden: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(symbols, embedding)
        self.body = nn.Sequential(
            nn.Linear(length * embedding, hidden), nn.ReLU(), nn.Linear(hidden, 2 * latent_size)
        )

    def forward(self, symbols: Tensor) -> Tensor:
        """Means and log σ side by side."""
        output: Tensor = self.body(self.embed(symbols).flatten(1))
        return output


class SequenceDecoder(nn.Module):
    """A GRU that is told z at its start and at every step, and the symbol before."""

    def __init__(self, symbols: int, latent_size: int, embedding: int, hidden: int) -> None:
        super().__init__()
        self.symbols = symbols
        self.embed = nn.Embedding(symbols + 2, embedding)  # two more: nothing yet, and one that was forgotten
        self.start = nn.Linear(latent_size, hidden)
        self.cell = nn.GRU(embedding + latent_size, hidden, batch_first=True)
        self.head = nn.Linear(hidden, symbols)

    def before_the_first(self, count: int, device: torch.device) -> Tensor:
        """What stands before the first symbol (B, 1)."""
        return torch.full((count, 1), self.symbols, device=device)

    def forgotten(self, symbols: Tensor, forget: Tensor) -> Tensor:
        """The symbols before (B, L), those marked by ``forget`` replaced by the one that says nothing."""
        return symbols.masked_fill(forget, self.symbols + 1)

    def begin(self, z: Tensor) -> Tensor:
        """The state before the first step, (1, B, H)."""
        state: Tensor = self.start(z).tanh()
        return state[None]

    def forward(self, z: Tensor, before: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities of the next symbol after each of ``before`` (B, T), (B, T, V), and the state."""
        told = z[:, None].expand(-1, before.shape[1], -1)
        inputs = torch.cat([self.embed(before), told], dim=2)
        with _without_advice() if inputs.is_cuda else nullcontext():
            output, state = self.cell(inputs, state)
        return self.head(output).log_softmax(2), state


@contextmanager
def _without_advice() -> Iterator[None]:
    """A chain's weights are one vector in an order that is not cuDNN's, which copies them and says so."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="RNN module weights")
        yield
