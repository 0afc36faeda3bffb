"""Whether two networks make a VAE: checked by running them on zeros, before any chain is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from dissensus.errors import SettingsError

if TYPE_CHECKING:
    from dissensus.models.vae.model import VAE

__all__ = ["check_networks"]


@torch.no_grad()
def check_networks(vae: VAE) -> None:
    """Refuse networks whose layers mix rows, and run zeros through both, two rows and then three."""
    _refuse_batch_dependence(vae.encoder, "encoder")
    _refuse_batch_dependence(vae.decoder, "decoder")
    if any(parameter.is_meta for parameter in vae.parameters()):
        return  # there is nothing to run
    two, three = (_outputs_on_zeros(vae, rows) for rows in (2, 3))
    for output, longer in zip(two, three, strict=True):
        if not torch.allclose(output, longer[:2], rtol=1e-3, atol=1e-4):
            raise SettingsError(
                "encoder or decoder: the same row gave different outputs in a batch of two and of three; "
                "remove what is random or mixes rows, or an input has no score of its own."
            )


def _outputs_on_zeros(vae: VAE, rows: int) -> list[Tensor]:
    """The encoder's one or two outputs and the decoder's, refused if their shapes cannot be used."""
    like = next(vae.parameters(), torch.empty(0))
    Z, Q = vae.latent_size, vae.observation.parameters_per_dimension
    x = torch.zeros(rows, *vae.input_shape, dtype=like.dtype, device=like.device)
    code = _run("encoder", vae.encoder, x)
    parts = list(code) if isinstance(code, tuple | list) else [code]
    shapes = [_shape(part) for part in parts]
    if shapes not in ([(rows, 2 * Z)], [(rows, Z), (rows, Z)]):
        raise SettingsError(
            f"encoder: for inputs {tuple(x.shape)} and latent_size={Z} expected (mean, log_std) of shape "
            f"{(rows, Z)} each, or one tensor {(rows, 2 * Z)}; got {' and '.join(map(str, shapes))}."
        )
    z = torch.zeros(rows, Z, dtype=like.dtype, device=like.device)
    output = _run("decoder", vae.decoder, z)
    per_row = Q * math.prod(vae.input_shape)
    if not isinstance(output, Tensor) or output.shape[:1] != (rows,) or output[0].numel() != per_row:
        raise SettingsError(
            f"decoder: for latents {tuple(z.shape)} expected {(rows, Q, *vae.input_shape)} or any shape "
            f"with {per_row} numbers a row ({Q} for each input dimension, as observation "
            f"{vae.observation.name!r} needs); got {_shape(output)}."
        )
    return [*parts, output]


def _shape(output: object) -> tuple[int, ...] | str:
    return tuple(output.shape) if isinstance(output, Tensor) else type(output).__name__


def _run(role: str, module: nn.Module, argument: Tensor) -> Any:
    try:
        return module(argument)
    except (RuntimeError, ValueError, IndexError) as error:
        shape = tuple(argument.shape)
        raise SettingsError(f"{role}: cannot take a tensor of shape {shape}: {error}") from error


def _refuse_batch_dependence(module: nn.Module, role: str) -> None:
    for name, layer in module.named_modules():
        where = f"{role}: {type(layer).__name__} at {name or 'the top'!r}"
        if isinstance(layer, nn.modules.batchnorm._BatchNorm):
            raise SettingsError(
                f"{where} cannot be used, because its running statistics belong to no single weight draw; "
                "use GroupNorm or no normalisation."
            )
        if isinstance(layer, nn.modules.dropout._DropoutNd):
            raise SettingsError(
                f"{where} cannot be used, because the same input must always give the same score; remove it, "
                "the posterior over weights already regularises."
            )
