r"""Autoregressive densities of pictures: a gated PixelCNN with a mixture of discretised logistics.

Pixels are taken row by row and from left to right, and a pixel's channels in turn,

.. math:: \log p(x) = \sum_{d} \log p(x_d \mid x_{<d}),

each factor a distribution over the 256 grey levels (:mod:`dissensus.models.autoregressive.mixture`) that one
pass of a network tells for all pixels at once (:mod:`dissensus.models.autoregressive.networks`). So log p is
exact, there are no importance samples, and every pixel's own part of it is known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, Self

import torch
from torch import Tensor
from torch.nn import functional

from dissensus.errors import SettingsError
from dissensus.models.autoregressive.beyond import beyond
from dissensus.models.autoregressive.mixture import (
    LEVELS,
    expected_surprise,
    mixture,
    parameters_per_pixel,
)
from dissensus.models.autoregressive.networks import CausalNetwork
from dissensus.models.contract import LOG_LIKELIHOOD, GenerativeModel, Inferred, Observed
from dissensus.models.inputs import unit_scale

__all__ = ["PixelCNN"]

MOST = 4096  # of a width, of dilations and of components: a saved gate that claims more is refused
BLOCKS = 4  # along each side of a picture, of which features are means

OBSERVED: Mapping[str, Observed] = MappingProxyType(
    {
        "corrected-ll": Observed("−log p less what the prediction of each pixel expects", "upper", "excess"),
        "reconstruction": Observed(
            "squared distance to what is expected of each pixel, ‖x − x̂‖²", "upper", "distance"
        ),
        "pixel-variance": Observed(
            "variance of log p(x_d|x_<d) over draws, summed over d", "upper", "terms", "variance"
        ),
        "reconstruction-spread": Observed(
            "variance of x̂ over draws, summed over d", "upper", "expected", "variance"
        ),
        "code-fit": Observed(
            "log distance of the pixels' codes from what noise would give, Cramér–von Mises", "both", "misfit"
        ),
        "code-dependence": Observed(
            "correlation of the codes of pixels next to each other", "both", "dependence"
        ),
        "gradient-norm": Observed(
            "log squared length of the gradient of log p by the last layer", "both", "gradient"
        ),
    }
)
"""The statistics of an autoregressive density, by name. They cost one pass a draw, which also tells log p."""


class PixelCNN(GenerativeModel):
    """p(x) = ∏ p(x_d | x_<d), for pictures of 256 grey levels in each channel.

    Parameters
    ----------
    input_shape
        (C, H, W)
    width
        F, the channels of the network's two streams.
    dilations
        How far apart the pixels are that each layer joins, a number for each layer.
    components
        How many logistics are mixed.
    """

    observed = OBSERVED
    observes_likelihood = True

    def __init__(
        self,
        input_shape: Sequence[int],
        *,
        width: int = 32,
        dilations: Sequence[int] = (1, 2, 4),
        components: int = 5,
    ) -> None:
        super().__init__()
        self.input_shape = tuple(int(side) for side in input_shape)
        self.width, self.components = int(width), int(components)
        self.dilations = tuple(int(apart) for apart in dilations)
        self._check()
        channels = self.input_shape[0]
        outputs = parameters_per_pixel(channels, self.components)
        self.network = CausalNetwork(channels, outputs, self.width, self.dilations)

    @property
    def explained_by(self) -> Literal["terms", "occlusion"]:
        """By the pixels' own terms, which are exact."""
        return "terms"

    def initialise_(self, generator: torch.Generator) -> None:
        """Draws the network's weights, so that all grey levels are about equally likely."""
        self.network.initialise_(generator)

    def read(self, x: Tensor) -> Tensor:
        """Grey levels k/255 as float32; floats in [0, 1] are rounded to the nearest."""
        return unit_scale(x) if x.dtype == torch.uint8 else (x * LEVELS).round().clamp(0, LEVELS) / LEVELS

    def objective(self, x: Tensor, noise: Tensor) -> Tensor:  # noqa: ARG002
        """log p (B,); on a GPU from layers in bfloat16."""
        x = self.read(x)
        told = self.network.roughly(x) if x.is_cuda else self.network(x)
        return _summed(mixture(x, told).log_prob())

    def log_likelihood(self, x: Tensor, noise: Tensor, inferred: Inferred) -> tuple[Tensor, Tensor]:  # noqa: ARG002
        """log p (N,), which is exact, and zeros (N,)."""
        log_p = self._log_p(x)
        return log_p, torch.zeros_like(log_p)

    def observe(self, x: Tensor, inferred: Inferred) -> dict[str, Tensor]:  # noqa: ARG002
        """What one pass tells: see :data:`OBSERVED`, log p, and each pixel's and channel's own term of it."""
        x = self.read(x)
        seen = self.network.seen(x)
        told = mixture(x, self.network.last(seen))
        log_p = _summed(told.log_prob())
        expected = (told.weights() * told.locations).sum(1).clamp(0, 1)
        return {
            LOG_LIKELIHOOD: log_p,
            "terms": told.terms().double(),
            "expected": expected.double(),
            "excess": -log_p - _summed(expected_surprise(told)),
            "distance": _summed((x - expected).square()),
            **beyond(told, x, seen),
        }

    def features(self, x: Tensor) -> Tensor:
        """What the network knows before it sees them of the pixels of at most 16 blocks, on average."""
        _, height, width = self.input_shape
        blocks = (min(BLOCKS, height), min(BLOCKS, width))
        return functional.adaptive_avg_pool2d(self.network.seen(self.read(x)), blocks).flatten(1)

    def tile(self, device: torch.device, samples: int) -> int:  # noqa: ARG002
        """A few pictures on a CPU, as a single one pays for a whole tile."""
        return 4 if device.type == "cpu" else 512

    @classmethod
    def for_inputs(
        cls,
        shape: tuple[int, ...],
        *,
        clip: float | None,  # noqa: ARG003 pixels are bounded
        generator: torch.Generator,
    ) -> Self:
        """A density of pictures of this shape."""
        with torch.random.fork_rng(devices=[]):  # layers are born with weights from the global generator
            model = cls(shape)
        model.initialise_(generator)
        return model

    def facts(self) -> dict[str, Any]:
        """The network's size and what it tells."""
        return {"width": self.width, "layers": len(self.dilations), "components": self.components}

    def config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {
            "input_shape": list(self.input_shape),
            "width": self.width,
            "dilations": list(self.dilations),
            "components": self.components,
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """The inverse of :meth:`config`."""
        return cls(**config)

    def _log_p(self, x: Tensor) -> Tensor:
        """(N,) in float64."""
        x = self.read(x)
        return _summed(mixture(x, self.network(x)).log_prob())

    def _check(self) -> None:
        """Refuses what no network can be made of."""
        if len(self.input_shape) != 3 or min(self.input_shape) < 1:
            raise SettingsError(
                f"an autoregressive density is one of pictures (C, H, W), and the inputs have shape "
                f"{self.input_shape}: take a flow"
            )
        if math.prod(self.input_shape) > MOST**2 or self.input_shape[0] > 4:
            raise SettingsError(
                f"pictures of shape {self.input_shape} are too large: give at most 4 channels, and --resize"
            )
        sizes = [("width", self.width), ("components", self.components), ("dilations", len(self.dilations))]
        for name, size in [*sizes, *(("each of dilations", apart) for apart in self.dilations[:MOST])]:
            if not 1 <= size <= MOST:
                raise SettingsError(f"{name} must lie between 1 and {MOST}, got {size}")


def _summed(places: Tensor) -> Tensor:
    """The sum over all places of each input (N,), in float64."""
    return places.flatten(1).sum(1, dtype=torch.float64)
