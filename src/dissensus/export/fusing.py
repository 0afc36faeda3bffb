"""The fused score and the decision, as modules of which ONNX can be made: all in float64."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from dissensus.errors import SettingsError
from dissensus.export.normal_scores import log_tail, tail_score
from dissensus.scores import Fused

__all__ = ["Deciding", "Fusing", "OfMatrix"]

FARTHEST = 1e305  # as of Marginal
TINY = 1e-300


class OfMatrix(nn.Module):
    """The scores of the package that a fusion makes of log-likelihoods (N, M), by name."""

    def __init__(self, fused: Fused) -> None:
        super().__init__()
        self.names = tuple(name for name in fused.statistics or () if name in _OF_MATRIX)
        state = fused.state()
        if "whitened" in self.names:
            self.register_buffer("mean", torch.from_numpy(state["whitened/mean"]))
            self.register_buffer("whitener", torch.from_numpy(state["whitened/whitener"]))

    def forward(self, rows: Tensor) -> dict[str, Tensor]:
        """Each (N,)."""
        return {name: _OF_MATRIX[name](self, rows) for name in self.names}


def _mean_ll(_: OfMatrix, rows: Tensor) -> Tensor:
    return -rows.mean(dim=1)


def _mixture_ll(_: OfMatrix, rows: Tensor) -> Tensor:
    best = rows.max(dim=1, keepdim=True).values
    return -(best[:, 0] + torch.log(torch.exp(rows - best).mean(dim=1)))


def _kl(_: OfMatrix, rows: Tensor) -> Tensor:
    gaps = rows.max(dim=1, keepdim=True).values - rows
    return torch.clamp(gaps.mean(dim=1) + torch.log(torch.exp(-gaps).mean(dim=1)), min=0.0)


def _whitened(own: OfMatrix, rows: Tensor) -> Tensor:
    d = rows - rows.mean(dim=1, keepdim=True) - own.get_buffer("mean")
    return torch.sqrt((d @ own.get_buffer("whitener").T).square().sum(dim=1))


_OF_MATRIX = {"mean-ll": _mean_ll, "mixture-ll": _mixture_ll, "kl": _kl, "whitened": _whitened}


class _Marginals(nn.Module):
    """:class:`~dissensus.scores._marginal.Marginal` of several statistics at once: (N, J) → (N, J)."""

    def __init__(self, states: Sequence[Mapping[str, NDArray[np.float64]]]) -> None:
        super().__init__()
        most = max(len(state["knots"]) for state in states)

        def stacked(name: str) -> Tensor:
            """With the last one repeated where there are fewer."""
            rows = [np.pad(s[name], (0, most - len(s[name])), mode="edge") for s in states]
            return torch.from_numpy(np.stack(rows))

        last = torch.tensor([len(state["knots"]) - 1 for state in states])
        self.register_buffer("knots", stacked("knots"))
        self.register_buffer("scores", stacked("scores"))
        self.register_buffer("last", last)
        self.register_buffer("first", most * torch.arange(len(states)))
        for name in ("scales", "shapes"):
            self.register_buffer(name, torch.from_numpy(np.stack([state[name] for state in states])))

    def forward(self, x: Tensor) -> Tensor:
        """Normal scores."""
        x = torch.clamp(x, -FARTHEST, FARTHEST)
        knots, scores, last, first = (self.get_buffer(n) for n in ("knots", "scores", "last", "first"))
        above = torch.minimum((x[:, :, None] > knots).to(torch.int64).sum(dim=2), last)
        below = torch.clamp(above - 1, min=0)
        x0, x1 = knots.flatten()[first + below], knots.flatten()[first + above]
        y0, y1 = scores.flatten()[first + below], scores.flatten()[first + above]
        share = torch.clamp((x - x0) / torch.clamp(x1 - x0, min=TINY), 0.0, 1.0)
        inside = y0 + share * (y1 - y0)
        low, high = knots[:, 0], knots.max(dim=1).values
        under = -self._beyond(low - x, -scores[:, 0], 0)
        over = self._beyond(x - high, scores.max(dim=1).values, 1)
        return torch.where(x < low, under, torch.where(x > high, over, inside))

    def _beyond(self, excess: Tensor, border: Tensor, tail: int) -> Tensor:
        scale, shape = self.get_buffer("scales")[:, tail], self.get_buffer("shapes")[:, tail]
        ratio = torch.log(torch.clamp(excess, min=TINY)) + torch.log(shape) - torch.log(scale)
        grown = torch.clamp(ratio, min=0.0) + torch.log(1 + torch.exp(-ratio.abs()))
        return torch.maximum(tail_score(log_tail(border) - grown / shape), border)


class Fusing(nn.Module):
    """The fused score (N,) of its statistics (N,) by name."""

    def __init__(self, fused: Fused) -> None:
        super().__init__()
        fusion, state = fused.fusion, fused.fusion.state()
        self.names, self.by_sum = fusion.names_, fusion.depth == "sum"
        if fusion.depth not in ("sum", "mixture"):
            raise SettingsError(f"a fusion by the depth {fusion.depth!r} cannot be exported")
        self.statistics = _Marginals([_group(state, f"statistic/{name}") for name in self.names])
        self.sums = _Marginals([_group(state, "sums")])
        self.register_buffer("led", torch.tensor([name in fusion.leading for name in self.names]))
        self.weighed = [name in fusion.extra for name in self.names]
        extra = [fusion.extra[name] for name in self.names if name in fusion.extra]
        self.register_buffer("extra", torch.tensor(extra, dtype=torch.float64))
        if not self.by_sum:
            self.distances = _Marginals([_group(state, "distances")])
            self.single = _Marginals([_group(state, "single")])
            for name in ("log_weights", "means", "whiteners"):
                self.register_buffer(name, torch.from_numpy(state[f"depth/{name}"]))

    def forward(self, found: Mapping[str, Tensor]) -> Tensor:
        """Higher = more unusual."""
        z = self.statistics(torch.stack([found[name] for name in self.names], dim=1))
        led = self.get_buffer("led")
        leading = -log_tail(z[:, led]) if bool(led.any()) else z[:, :0]
        if self.by_sum:
            total = leading.sum(dim=1)
            if not bool(led.all()):
                total = total + _most_unusual(z[:, ~led])
        else:
            total = -log_tail(self.distances(self._depth(z)[:, None])[:, 0])
            if len(self.names) > 1:
                total = total - 0.5 * log_tail(self.single(_most_unusual(z)[:, None])[:, 0])
            if bool(led.any()):
                total = total + 0.5 * leading.mean(dim=1)
            if any(self.weighed):
                total = total - log_tail(z[:, self.weighed]) @ self.get_buffer("extra")
        return -log_tail(self.sums(total[:, None])[:, 0])

    def _depth(self, z: Tensor) -> Tensor:
        """−log of the mixture's density (N,)."""
        means, whiteners = self.get_buffer("means"), self.get_buffer("whiteners")
        away = torch.matmul(z[None] - means[:, None], whiteners.transpose(1, 2))
        logs = self.get_buffer("log_weights")[:, None] - 0.5 * away.square().sum(dim=2)
        best = logs.max(dim=0, keepdim=True).values
        return -(best[0] + torch.log(torch.exp(logs - best).sum(dim=0)))


def _most_unusual(z: Tensor) -> Tensor:
    """How unusual the most unusual of statistics is (N,), in nats."""
    return torch.clamp(-log_tail(z.abs()) - math.log(2), min=0.0).max(dim=1).values


class Deciding(nn.Module):
    """P-values and verdicts (N,) of scores (N,), by calibration scores and a threshold."""

    def __init__(self, calibration: NDArray[np.float64], threshold: float) -> None:
        super().__init__()
        self.threshold = min(threshold, float(np.finfo(np.float64).max))
        self.register_buffer("calibration", torch.from_numpy(np.sort(calibration)))

    def forward(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """p = (1 + #{calibration scores ≥ s})/(n + 1), and s > threshold."""
        calibration = self.get_buffer("calibration")
        higher = (calibration >= scores[:, None]).to(torch.float64).sum(dim=1)
        return (1 + higher) / (len(calibration) + 1), scores > self.threshold


def _group(state: Mapping[str, NDArray[np.float64]], group: str) -> dict[str, NDArray[np.float64]]:
    return {name: state[f"{group}/{name}"] for name in ("knots", "scores", "scales", "shapes")}
