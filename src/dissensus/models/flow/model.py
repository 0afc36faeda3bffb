r"""Normalising flows: an invertible map from rows to noise, whose density is exact.

Each of T transforms moves every column by a monotone function of that column, which the columns before it
choose; z is what x becomes in the end. With the base density b of one column,

.. math:: \log p(x) = \sum_d \Big( \log b(z_d) + \sum_t \log \frac{\partial f_{t,d}}{\partial x_{t,d}} \Big),

the sum of a term for each column.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from dissensus.errors import SettingsError
from dissensus.models.contract import GenerativeModel, Inferred, Recommended
from dissensus.models.flow.base import log_base
from dissensus.models.flow.conditioner import Conditioner

__all__ = ["Flow"]

MOST_TRANSFORMS, MOST_LAYERS = 64, 16  # a saved gate that claims more would take long to be refused
FARTHEST = 10.0


class Flow(GenerativeModel):
    """What all families share; a family says which monotone functions there are (:meth:`moved`).

    Parameters
    ----------
    input_shape
        (D,)
    transforms, hidden
        How many transforms, and the widths of the network that chooses the functions of each.
    jitter
        Rows are trained on with noise of so many deviations in each column. Without it the density of a
        column of few different values, or of one only, would grow without bound.
    degrees_of_freedom
        Of the base density (:mod:`dissensus.models.flow.base`); ``None`` makes it normal.
    clip
        What the networks see is cut off at ±clip; the density is always that of the row itself.
    """

    # Of 40 tables and embeddings ensembles find more outliers than chains that sample (docs/tables.md).
    recommended: ClassVar[Recommended] = Recommended("ensemble", chains=4, draws=4, step_size=2e-2)
    sizes: ClassVar[tuple[int, ...]]
    """How many numbers each argument of :meth:`moved` has for a column."""

    def __init__(
        self,
        input_shape: Sequence[int],
        *,
        transforms: int = 3,
        hidden: Sequence[int] = (64, 64),
        jitter: float = 0.05,
        degrees_of_freedom: float | None = 5.0,
        clip: float = FARTHEST,
    ) -> None:
        super().__init__()
        self.input_shape = tuple(int(side) for side in input_shape)
        self.transforms, self.hidden = int(transforms), tuple(int(width) for width in hidden)
        self.jitter, self.degrees_of_freedom, self.clip = float(jitter), degrees_of_freedom, float(clip)
        self._check()
        (columns,) = self.input_shape
        self.conditioners = nn.ModuleList(
            Conditioner(*self.places(columns, number), sum(self.sizes), self.hidden, self.clip)
            for number in range(self.transforms)
        )

    @abstractmethod
    def moved(self, x: Tensor, *parameters: Tensor) -> tuple[Tensor, Tensor]:
        """Columns x (B, D) after one transform and the logarithms of its slopes there, two of (B, D).

        ``parameters`` are what the network chose, (B, D, size) for each of :attr:`sizes`.
        """

    def places(self, columns: int, number: int) -> tuple[Tensor, int]:
        """The places (D,) of the columns in a transform, there and back in turn, and the last place."""
        forwards = torch.arange(columns)
        return (forwards if number % 2 == 0 else columns - 1 - forwards), columns - 1

    @property
    def training_noise_size(self) -> int:
        """The jitter of each column."""
        return self.input_shape[0] if self.jitter else 0

    def initialise_(self, generator: torch.Generator) -> None:
        """Draws all networks' weights, so that the flow is near the identity."""
        for conditioner in self.conditioners:
            assert isinstance(conditioner, Conditioner)
            conditioner.initialise_(generator)

    def read(self, x: Tensor) -> Tensor:
        """In float32."""
        return x.to(torch.float32)

    def objective(self, x: Tensor, noise: Tensor) -> Tensor:
        """log p (B,) of rows that the noise blurs by the jitter."""
        x = self.read(x)
        return self.terms(x + self.jitter * noise if self.jitter else x).sum(1, dtype=torch.float64)

    def log_likelihood(self, x: Tensor, noise: Tensor, inferred: Inferred) -> tuple[Tensor, Tensor]:  # noqa: ARG002
        """log p (N,), which is exact, and zeros (N,)."""
        log_p = self.terms(x).sum(1, dtype=torch.float64)
        return log_p, torch.zeros_like(log_p)

    def terms(self, x: Tensor) -> Tensor:
        """What each column of rows (B, D) contributes to log p, (B, D).

        They do not say which column is wrong: one that is makes all that go with it unlikely. Of planted
        columns the largest term finds half, and occlusion, which is what explanations show, nine in ten.
        """
        x = self.read(x)
        log_slopes = torch.zeros_like(x)
        for conditioner in self.conditioners:
            x, own = self.moved(x, *conditioner(x).split(self.sizes, dim=-1))
            log_slopes = log_slopes + own
        return log_base(x, self.degrees_of_freedom) + log_slopes

    def tile(self, device: torch.device, samples: int) -> int:  # noqa: ARG002
        """Twice as many rows as usual: their calls cost more than their arithmetic."""
        return 128 if device.type == "cpu" else 4096

    @classmethod
    def for_inputs(cls, shape: tuple[int, ...], *, clip: float | None, generator: torch.Generator) -> Self:
        """A flow of rows of so many columns."""
        flow = cls(shape, clip=FARTHEST if clip is None else clip)
        flow.initialise_(generator)
        return flow

    def facts(self) -> dict[str, Any]:
        """How many transforms there are, and how wide their networks."""
        return {"transforms": self.transforms, "hidden": list(self.hidden)}

    def config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {
            "input_shape": list(self.input_shape),
            "transforms": self.transforms,
            "hidden": list(self.hidden),
            "jitter": self.jitter,
            "degrees_of_freedom": self.degrees_of_freedom,
            "clip": self.clip,
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """The inverse of :meth:`config`."""
        return cls(**config)

    def _check(self) -> None:
        """Refuses what no flow can be made of."""
        if len(self.input_shape) != 1:
            raise SettingsError(
                f"a flow is a density of rows (D,), and the inputs have shape {self.input_shape}: turn them "
                "into vectors with embed=, or take a VAE"
            )
        if self.input_shape[0] < 1:
            raise SettingsError("a flow needs at least one column")
        if not 1 <= self.transforms <= MOST_TRANSFORMS:
            raise SettingsError(f"transforms must lie between 1 and {MOST_TRANSFORMS}, got {self.transforms}")
        if not 1 <= len(self.hidden) <= MOST_LAYERS or min(self.hidden) < 1:
            raise SettingsError(
                f"hidden must be 1 to {MOST_LAYERS} widths of at least 1, got {list(self.hidden)}"
            )
        if not (self.jitter >= 0 and math.isfinite(self.jitter)):
            raise SettingsError(f"jitter must be a number of at least 0, got {self.jitter}")
        if not (self.clip > 0 and math.isfinite(self.clip)):
            raise SettingsError(f"clip must be a number above 0, got {self.clip}")
        degrees = self.degrees_of_freedom
        if degrees is not None and not (degrees > 0 and math.isfinite(degrees)):
            raise SettingsError(f"degrees_of_freedom must be a number above 0, or None, got {degrees}")
