"""Things by name, each with a line that says where it is; it is imported when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TypeVar

__all__ = ["Homes"]

T = TypeVar("T")


class Homes(Mapping[str, T]):
    """A read-only mapping from names to what modules of a package define.

    Names can be listed without importing anything.

    >>> Homes("decimal", {"ten-digits": ":Context"})["ten-digits"].__name__
    'Context'
    """

    def __init__(self, package: str, homes: Mapping[str, str]) -> None:
        """``homes`` has for each name ``module:Name``, the module being one of the package's own."""
        self._package, self._homes = package, homes

    def __getitem__(self, name: str) -> T:
        module, _, own = self._homes[name].partition(":")
        found: T = getattr(import_module(f"{self._package}.{module}".rstrip(".")), own)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)
