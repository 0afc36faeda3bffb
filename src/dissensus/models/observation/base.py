"""What an observation model is: the density p(x|z,θ), from the numbers a network gives for each dimension."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar, final

import torch
from torch import Tensor

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["ObservationModel"]


class ObservationModel(ABC):
    """A density over inputs x that factorises over dimensions, given Q parameters per dimension.

    Inputs are (B, *S) and parameters (B, Q, *S). Implementations are frozen dataclasses without state, so two
    models with the same settings are equal. Nothing here looks at values on the host or changes shape with
    them: every method but ``sample`` may be captured in a CUDA graph.
    """

    name: ClassVar[str]
    """The name :func:`dissensus.models.observation` finds the model by."""

    @property
    @abstractmethod
    def parameters_per_dimension(self) -> int:
        """Q: how many numbers a network gives for each input dimension."""

    @abstractmethod
    def log_prob_terms(self, x: Tensor, parameters: Tensor) -> Tensor:
        """log p(x_d | parameters_d) for every dimension: (B, *S), in the parameters' dtype."""

    @abstractmethod
    def best_log_prob_terms(self, x: Tensor) -> Tensor:
        """sup log p(x_d | ·), the most that any parameters could give: (B, *S) in x's dtype."""

    @abstractmethod
    def mean(self, parameters: Tensor) -> Tensor:
        """E[x | parameters]: (B, *S)."""

    @abstractmethod
    def sample(self, parameters: Tensor, generator: torch.Generator) -> Tensor:
        """One draw x ~ p(x | parameters): (B, *S). ``generator`` lives on the parameters' device."""

    def information(self, parameters: Tensor) -> Tensor | None:  # noqa: ARG002
        """What x_d tells of which of M draws made it, in nats, of their parameters (M, B, Q, *S): (B, *S).

        None where there is no formula for it; see :mod:`dissensus.models.information`.
        """
        return None

    @final
    def log_prob(self, x: Tensor, parameters: Tensor) -> Tensor:
        """log p(x | parameters) = Σ_d log p(x_d | parameters_d): (B,) in float64.

        The sum is in float64 because disagreement is a difference of fractions of a nat between sums of
        thousands of terms.
        """
        return self.log_prob_terms(x, parameters).flatten(1).sum(1, dtype=torch.float64)

    @final
    def best_log_prob(self, x: Tensor) -> Tensor:
        """sup log p(x | ·) = Σ_d sup log p(x_d | ·), what a perfect network would give: (B,) in float64.

        Inputs differ in it for reasons that no network can help: a grey pixel is never as likely as a black
        one under Bernoulli. What a network falls short of it is comparable between inputs.
        """
        return self.best_log_prob_terms(x).flatten(1).sum(1, dtype=torch.float64)

    def to_config(self) -> dict[str, Any]:
        """The model as a plain dictionary: its name and its settings."""
        settings: DataclassInstance = self  # type: ignore[assignment]  # every model is a dataclass
        return {"name": self.name, **asdict(settings)}
