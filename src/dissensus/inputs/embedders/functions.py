"""A plain function as an embedder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dissensus.inputs.embedders.contract import Embedder

__all__ = ["FunctionEmbedder"]


class FunctionEmbedder(Embedder):
    """Calls a function with one input at a time; a gate names it as ``package:function``."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __call__(self, batch: Any, /) -> Any:
        """Return what the function gives for one input."""
        return self.function(batch)

    def config(self) -> dict[str, Any]:
        """Return no arguments: a function has none but its inputs."""
        return {}

    @property
    def code(self) -> Any:
        """Return the function itself, which is what a gate names."""
        return self.function
