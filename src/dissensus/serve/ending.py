"""How a service ends: in steps that follow one another, each with a limit that nobody outside can move."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dissensus.serve.settings import ServeSettings

__all__ = ["Ending"]


@dataclass(frozen=True)
class Ending:
    """The most seconds that each step may take."""

    drain: float
    """Connections are still taken, but it says that it is not ready."""
    requests: float
    """What was accepted is answered."""
    handlers: float = 1.1
    """Those whose connections were closed come to their end; uvicorn takes a tenth, and whole seconds."""
    batches: float = 0.5
    """Inputs are scored that nobody waits for any more: metrics and drift count them."""
    farewells: float = 2.0
    """A drift alarm reaches its webhook, and the last traces their collector."""

    @classmethod
    def of(cls, settings: ServeSettings) -> Ending:
        """For a service with these settings."""
        return cls(drain=settings.drain, requests=settings.timeout + 0.5)

    @property
    def seconds(self) -> float:
        """The most that all steps take."""
        return float(sum(astuple(self)))
