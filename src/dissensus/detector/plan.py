"""What a fit is to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from dissensus.detector.sampling import Sampler
from dissensus.detector.statistic import Statistic
from dissensus.likelihood import Proposal
from dissensus.models import GenerativeModel, Recommended
from dissensus.posterior import SamplingSettings

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan:
    """What a fit is to do, besides the inputs."""

    build: Callable[[tuple[int, ...], float | None, int], GenerativeModel]
    """Makes the model, by the shape of what it reads, how far out its training values lie, and the seed."""
    recommended: Callable[[bool], Recommended]
    """What such a model recommends, for rows or else for pictures."""
    sampler: Callable[[Recommended], Sampler]
    """How weights are drawn, where a model recommends this."""
    sampling: Callable[[Sampler, int], SamplingSettings]
    """The same for so many training inputs, in full."""
    statistic: Statistic
    samples: int
    proposal: Proposal
    resize: tuple[int, int] | None
    examples: int
    neighbours: bool
    """Whether training rows are kept to measure distances to."""
    embed: object
    """What turns inputs into vectors first; None: nothing does."""
    seed: int
    device: torch.device
    contamination: float
    """The share of inputs that may be outliers; 0: none is left out."""
    own_shape: bool
    """Whether the model is an object, which reads inputs of a shape of its own."""
    memory: int | None = None
    """Bytes of memory that the process may take; None: as many as it needs."""
