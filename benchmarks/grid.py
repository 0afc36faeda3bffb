"""Settings to compare, as a person writes them: every combination of a few values each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from dissensus.errors import SettingsError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Settings = TypeVar("Settings", bound=DataclassInstance)

__all__ = ["candidates", "plain_changes"]


def candidates(base: Settings, grid: Sequence[str]) -> Iterator[tuple[dict[str, Any], Settings]]:
    """Every combination of a grid such as ``["step_size=0.003,0.01", "chains=2,4"]``, with what it changes.

    ``base`` is a dataclass of numbers, words, and tuples of numbers, which are joined by ``x``:
    ``widths=32x64,64x128``. Its name is not a setting.

    >>> from dissensus.posterior import Adam
    >>> [changes for changes, _ in candidates(Adam(), ["learning_rate=0.01,0.1"])]
    [{'learning_rate': 0.01}, {'learning_rate': 0.1}]
    """
    axes = []
    types = {each.name: each.type for each in fields(base) if each.name != "name"}
    for axis in grid:
        name, _, values = axis.partition("=")
        if name not in types or not values:
            raise SettingsError(
                f"{axis!r} is not a setting to compare; write it as in step_size=0.003,0.01 with one of "
                f"{', '.join(types)}"
            )
        axes.append([(name, _parse(value, str(types[name]), axis)) for value in values.split(",")])
    for combination in itertools.product(*axes):
        changes = dict(combination)
        yield changes, replace(base, **changes)


def plain_changes(changes: dict[str, Any]) -> dict[str, Any]:
    """The same with lists for tuples, for a record."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in changes.items()}


def _parse(text: str, kind: str, axis: str) -> Any:
    try:
        if kind.startswith("tuple"):
            return tuple(int(width) for width in text.split("x"))
        if kind.startswith("int"):
            return int(text)
        return float(text) if kind.startswith("float") else text
    except ValueError:
        raise SettingsError(f"{axis!r}: {text!r} is not a value of this setting ({kind})") from None
