"""Rows of the matrix on disk, so that an interrupted one goes on with the draws that it lacks.

A row's name is a digest of all that it depends on: the draw's weights, the inputs, K and the seed. So a row
is found again by whoever needs just that row, even as part of a longer run, and never by anybody else.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from dissensus.atomic import atomic_path
from dissensus.errors import CheckpointError, not_written
from dissensus.models import GenerativeModel
from dissensus.posterior import WeightDraws
from dissensus.posterior.checkpoint import fingerprint

__all__ = ["FinishedRows"]


class FinishedRows:
    """The folder of the rows of one matrix."""

    def __init__(
        self,
        folder: str | Path,
        model: GenerativeModel,
        draws: WeightDraws,
        data: Tensor,
        *,
        samples: int,
        seed: int,
        device: torch.device,
        proposal: str = "own",
        one_a_call: bool = False,
    ) -> None:
        self.folder, self.draws = Path(folder), draws
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError(f"the folder {self.folder} cannot be made: {error.strerror}") from error
        # What is frozen is no part of a draw, and of a user's own networks only their description is known.
        frozen = {name: p for name, p in model.named_parameters() if not p.requires_grad}
        rest = frozen | dict(model.named_buffers())
        self.common = fingerprint(
            {
                "model": str(model),
                "samples": samples,
                "seed": seed,
                "device": device.type,
                "frozen": list(rest),
                "one_a_call": one_a_call,  # rounds otherwise
                # A pooled proposal depends on all draws together.
                "proposal": proposal if proposal == "own" else [proposal, self._all()],
            },
            data,
            *rest.values(),
        )

    def load(self, draw: int) -> tuple[Tensor, Tensor] | None:
        """Values and errors (N,) of one draw, or ``None`` where there is no row, or only a damaged one."""
        path = self._path(draw)
        if not path.exists():
            return None
        try:
            with safe_open(path, framework="pt") as file:
                digest = (file.metadata() or {}).get("digest")
                values, errors = file.get_tensor("values"), file.get_tensor("errors")
        except (OSError, SafetensorError):
            return None
        return (values, errors) if digest == _digest(values, errors) else None

    def save(self, draw: int, values: Tensor, errors: Tensor) -> None:
        """Keeps a finished row."""
        path = self._path(draw)
        try:
            with atomic_path(path) as temporary:
                row = {"values": values, "errors": errors}
                save_file(row, temporary, metadata={"digest": _digest(values, errors)})
        except (OSError, SafetensorError) as error:
            raise not_written(path, error) from error

    def _all(self) -> str:
        """A digest of every draw."""
        stacks = [stack for part in self.draws.parts.values() for stack in part.stacks.values()]
        return fingerprint({part: own.of.tolist() for part, own in self.draws.parts.items()}, *stacks)

    def _path(self, draw: int) -> Path:
        own = {part: self.draws.weights(part, draw) for part in self.draws.parts}
        tensors = [tensor for part in own.values() for tensor in part.values()]
        weights = fingerprint({part: list(named) for part, named in own.items()}, *tensors)
        name = hashlib.sha256(f"{self.common} {weights}".encode()).hexdigest()
        return self.folder / f"{name[:32]}.safetensors"


def _digest(values: Tensor, errors: Tensor) -> str:
    """Of the numbers: a flipped bit must not become a log-likelihood."""
    return fingerprint({}, values, errors)
