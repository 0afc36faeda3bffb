"""Families of models by name."""

from __future__ import annotations

from collections.abc import Mapping

from dissensus.homes import Homes
from dissensus.models.contract import GenerativeModel
from dissensus.own_code import name_of

__all__ = ["AUTO", "FOR_PICTURES", "FOR_ROWS", "MODELS", "model_name"]

AUTO = "auto"
FOR_ROWS, FOR_PICTURES = "maf", "vae"
"""What suits the inputs, where nobody says."""
_HOMES = {
    "vae": "vae:VAE",
    "deep-vae": "vae:DeepVAE",
    "maf": "flow:MAF",
    "nsf": "flow:NSF",
    "realnvp": "flow:RealNVP",
    "pixelcnn": "autoregressive:PixelCNN",
    "sequences": "sequences:Sequences",
    "flow": "flow:MAF",  # the one to begin with; a gate calls it by its own name
}
MODELS: Mapping[str, type[GenerativeModel]] = Homes("dissensus.models", _HOMES)
"""Every family of models in this package, by name."""


def model_name(kind: type[GenerativeModel]) -> str:
    """Return the name of a family of the package, or ``package:Class`` of a class of a person's own."""
    return next((name for name, known in MODELS.items() if known is kind), None) or name_of(kind)
