"""A gate's model in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["model_in_words"]


def model_in_words(model: Mapping[str, Any]) -> str:
    """Return the name of a model and its facts, if there are any, as one line.

    >>> model_in_words({"name": "vae", "latent_size": 2})
    'vae (latent size 2)'
    """
    facts = [f"{name.replace('_', ' ')} {value}" for name, value in model.items() if name != "name"]
    return str(model["name"]) + (f" ({', '.join(facts)})" if facts else "")
