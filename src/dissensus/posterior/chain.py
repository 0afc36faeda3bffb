"""One chain: a model whose parts move by their rules, one epoch at a time."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from dissensus.errors import SettingsError
from dissensus.memory import give_back
from dissensus.models import GenerativeModel
from dissensus.posterior.blocks import BlockData
from dissensus.posterior.draws import load_weights
from dissensus.posterior.part import Part
from dissensus.posterior.potential import Potential
from dissensus.posterior.settings import SamplingSettings
from dissensus.posterior.step_work import batch_shares
from dissensus.seeding import numpy_stream, stream_seed, torch_stream

__all__ = ["Chain", "StepNoise"]


class StepNoise(NamedTuple):
    """Standard normal numbers for one step, in the order they are drawn in."""

    objective: Tensor
    """(B, training_noise_size)"""
    parts: dict[str, Tensor]
    """(P,) for each part whose rule takes noise, empty for the others."""


class Chain:
    """Chain number ``index`` of a run.

    All its randomness in epoch t comes from streams named by (seed, chain, t): where an epoch starts from the
    same state it ends in the same state, which is what makes an interrupted run resume to the same bits.
    """

    def __init__(
        self,
        model: GenerativeModel,
        settings: SamplingSettings,
        data: Tensor | BlockData,
        index: int,
        seed: int,
    ) -> None:
        self.index, self.seed, self.settings, self.size = index, seed, settings, len(data)
        self.batch_size = min(settings.batch_size, len(data))
        self.steps_per_epoch = len(data) // self.batch_size
        self.blocks = data if isinstance(data, BlockData) else None
        """Where inputs that do not fit into memory are read from."""
        self.data = data.first(self.batch_size) if isinstance(data, BlockData) else data
        """The inputs (n, *S) that are in memory: all of them, or a window."""
        self.first = self.data[: self.batch_size]
        self.model = copy.deepcopy(model).to(data.device)
        self.model.initialise_(torch_stream(seed, "chain", index, "initialisation"))
        # What is frozen is no part of a draw: it must stay what the draws will be scored with.
        load_weights(self.model, {name: p for name, p in model.named_parameters() if not p.requires_grad})
        modules, potential = _modules(self.model), Potential(len(data), self.batch_size, settings.temperature)
        inferring = self.model.inference if settings.inference is not None else ()
        self.drawn = tuple(name for name in modules if name not in inferring)
        """The parts that a draw consists of; the others are optimised, and shared by the chain's draws."""
        self.parts = {
            name: Part(module, settings.rule_of(name, self.drawn), potential)
            for name, module in modules.items()
        }
        self.order = tuple(sorted(modules, key=lambda name: name not in self.model.inference))
        """The parts in the order in which they step: what proposes first."""
        self.shares = 1 if data.is_cuda else self._shares()
        """How many shares a batch is computed in, one after the other or side by side, with equal bits."""
        self.generator = torch.Generator(device=data.device)
        self.adapt = True
        for part in self.parts.values():
            part.watch_(self.noiseless_objective)

    def begin_epoch(self, epoch: int) -> Iterable[Tensor]:
        """Sets streams, prior and adaptation of epoch t; returns its batches, each (B,) row numbers of data.

        They are a tensor (steps, B), or of inputs that do not fit into memory an iterator, which puts the
        batch's inputs into memory before it gives their numbers.
        """
        self.adapt = self.settings.adapts(epoch, self.steps_per_epoch)
        for name, part in self.parts.items():
            random = numpy_stream(self.seed, "chain", self.index, "precision", name, epoch)
            part.resample_precision(self.settings.hyperprior.at(self.settings.temperature), random)
            part.begin_epoch(epoch, self.steps_per_epoch)
        self.generator.manual_seed(stream_seed(self.seed, "chain", self.index, "epoch", epoch))
        stream = partial(torch_stream, self.seed, "chain", self.index, "order", epoch)
        if self.blocks is not None:
            return self._from_blocks(self.blocks.epoch(stream(), self.batch_size))
        device = self.data.device
        order = torch.randperm(len(self.data), generator=stream(device=device), device=device)
        # A partial last batch is left out: the order is new in every epoch, so nothing is left out for long.
        return order[: self.steps_per_epoch * self.batch_size].view(self.steps_per_epoch, self.batch_size)

    def step(self, rows: Tensor) -> Tensor:
        """One step on the batch ``data[rows]``; its mean objective () without waiting for the device."""
        noise = self.draw_noise(len(rows))
        found = [self.backward(*share) for share in self.divided(rows, noise.objective)]
        # All gradients were taken at the same point, also that of what is inferred for.
        for name in self.order:
            self.parts[name].step_(noise.parts[name], self.adapt)
        return (torch.cat(found) if len(found) > 1 else found[0]).mean()

    def draw_noise(self, rows: int) -> StepNoise:
        """All that is random in a step on so many rows, apart from which they are."""
        objective = torch.empty(rows, self.model.training_noise_size, device=self.data.device)
        objective.normal_(generator=self.generator)
        for name in self.order:
            self.parts[name].begin_step_(self.generator, rows)
        return StepNoise(
            objective, {name: self.parts[name].draw_noise(self.generator) for name in self.order}
        )

    def divided(self, rows: Tensor, noise: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """The batch's shares, each of row numbers (b,) and noise (b, training_noise_size)."""
        return zip(rows.tensor_split(self.shares), noise.tensor_split(self.shares), strict=True)

    def backward(self, rows: Tensor, noise: Tensor, model: GenerativeModel | None = None) -> Tensor:
        """The objective (B,) of ``data[rows]``; leaves the gradient in the chain's model, or in a copy."""
        objective = (model or self.model).objective(self.data.index_select(0, rows), noise)
        objective.sum().neg().backward()  # type: ignore[no-untyped-call]
        return objective.detach()

    def noiseless_objective(self) -> float:
        """The median objective of the first rows without noise: how good the weights are.

        What an untrained model infers can be very wide, and the training objective then jumps by orders of
        magnitude. One absurd row would outweigh all others in a mean, and a chain that runs away loses them
        all.
        """
        with torch.no_grad():
            x = self.model.read(self.first)
            noise = torch.zeros(len(x), self.model.training_noise_size, device=x.device)
            return float(self.model.objective(x, noise).median())

    def held_out_log_likelihood(self, x: Tensor, noise: Tensor) -> Tensor:
        """log p(x) of held-out inputs (N,) in float64 with noise (K, noise_size), to watch the chain by."""
        with torch.no_grad():
            size = self.model.tile(x.device, len(noise))
            inferred = self.model.infer(x)
            tiles = [slice(start, start + size) for start in range(0, len(x), size)]
            return torch.cat(
                [
                    self.model.log_likelihood(x[tile], noise, tuple(each[tile] for each in inferred))[0]
                    for tile in tiles
                ]
            )

    def load(self, weights: Mapping[str, Tensor]) -> None:
        """Puts flat weights (P,) into the parts of these names."""
        for name, flat in weights.items():
            self.parts[name].weights.copy_(flat)

    def tensors(self) -> dict[str, Tensor]:
        """Everything the next epoch depends on, by name."""
        return {f"{part}/{k}": v for part, p in self.parts.items() for k, v in p.tensors().items()}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """The inverse of :meth:`tensors`."""
        for name, part in self.parts.items():
            part.restore(
                {k.removeprefix(f"{name}/"): v for k, v in tensors.items() if k.startswith(f"{name}/")}
            )

    def _from_blocks(self, batches: Iterator[tuple[Tensor | None, Tensor]]) -> Iterator[Tensor]:
        """The batches' row numbers, each given when its inputs are in memory."""
        for window, rows in batches:
            if window is not None:
                self.data = window
                give_back()
            del window
            yield rows

    def _shares(self) -> int:
        """One where a rule needs the batch as a whole, or a pass may leave traces in the model's buffers."""
        whole = not all(part.rule.divisible for part in self.parts.values())
        if whole or next(self.model.buffers(), None) is not None:
            return 1
        return batch_shares(self.model, self.batch_size)


def _modules(model: GenerativeModel) -> dict[str, nn.Module]:
    """The model's parts, refused if they overlap, or if some weights belong to none."""
    parts = model.parts()
    owned = [id(p) for part in parts.values() for p in part.parameters() if p.requires_grad]
    if sorted(owned) != sorted(id(p) for p in model.parameters() if p.requires_grad):
        raise SettingsError(
            f"{type(model).__name__}.parts() must give every trainable parameter once: it gives "
            f"{len(owned)} in {', '.join(parts)}, of {sum(p.requires_grad for p in model.parameters())}"
        )
    unknown = set(model.inference) - set(parts)
    if unknown:
        raise SettingsError(f"{type(model).__name__}.inference names {sorted(unknown)}, which parts() lacks")
    return parts
