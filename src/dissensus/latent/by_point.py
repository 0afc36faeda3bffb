"""A function of latent points, each by itself: its values and gradients a tile at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import torch
from torch import Tensor

from dissensus.side_by_side import side_by_side
from dissensus.tiles import filled, slices, tile_ranges
from dissensus.torch_threads import usable_threads

__all__ = ["OfTile", "by_point"]

OfTile: TypeAlias = Callable[[Tensor], Tensor]
"""From a tile of points (T, Z) float32 to values (T,), each a function of its own point."""


def by_point(ask: OfTile, z: Tensor, *, tile: int, device: torch.device) -> Tensor:
    """Values (n,) of points (n, Z), in their type and on their device; differentiable once.

    Points are worked on in tiles of one fixed shape: what a point gets depends on nothing but itself. Where
    gradients are wanted they are taken with the values, tile by tile, so that memory is that of a tile.
    """
    wanted = torch.is_grad_enabled() and z.requires_grad
    found: Tensor = _ByPoint.apply(z, ask, tile, device, wanted)  # type: ignore[no-untyped-call]
    return found


class _ByPoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: Tensor, ask: OfTile, tile: int, device: torch.device, wanted: bool) -> Tensor:
        points = z.detach().to(device, torch.float32)
        values = torch.empty(len(z), dtype=torch.float64, device=device)
        gradients = torch.empty_like(points) if wanted else None

        def asked(inputs: slice) -> Iterator[int]:
            for rows in slices(inputs, tile):
                count = rows.stop - rows.start
                # Not in inference mode: what was made in it could take no part in a gradient.
                with torch.inference_mode(False), torch.set_grad_enabled(wanted):
                    own = filled(points[rows], tile).requires_grad_(wanted)
                    value = ask(own)
                    if gradients is not None:
                        (gradient,) = torch.autograd.grad(value.sum(), own)
                        gradients[rows] = gradient[:count]
                values[rows] = value.detach()[:count].double()
                yield count

        cores = usable_threads() if device.type == "cpu" else 1
        works = [asked(inputs) for inputs in tile_ranges(len(z), tile, cores)]
        if device.type == "cpu":
            for _ in side_by_side(works, threads=1):  # one each: so the bits do not depend on the cores
                pass
        else:
            for work in works:
                for _ in work:
                    pass
        if gradients is not None:
            ctx.save_for_backward(gradients.to(z.device, z.dtype))
        return values.to(z.device, z.dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None, None]:
        """Of each value by its own point alone."""
        (own,) = ctx.saved_tensors
        return own * gradients[0][:, None], None, None, None, None
