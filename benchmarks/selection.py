"""Settings are chosen in one way: candidates of a grid are compared by what may be looked at.

That is validation data, or outliers made up of it; no test input is read. Each candidate has one number,
higher is better, and may have another that must not be too low.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from dissensus.errors import SettingsError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Settings = TypeVar("Settings", bound=DataclassInstance)

__all__ = ["Candidate", "candidate_name", "candidates", "choose"]


def candidates(base: Settings, grid: Sequence[str]) -> Iterator[tuple[dict[str, Any], Settings]]:
    """Every combination of a grid such as ``["step_size=0.003,0.01", "chains=2,4"]``, with what it changes.

    ``base`` is a dataclass of numbers, words, and tuples of numbers, which are joined by ``x``:
    ``widths=32x64,64x128``. Its name is not a setting. What is as in ``base`` is no change.

    >>> from dissensus.posterior import Adam
    >>> [changes for changes, _ in candidates(Adam(learning_rate=0.1), ["learning_rate=0.01,0.1"])]
    [{'learning_rate': 0.01}, {}]
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
        changed = replace(base, **dict(combination))
        changes = {name: value for name, value in combination if value != getattr(base, name)}
        yield changes, changed


def candidate_name(base: str, changes: dict[str, Any]) -> str:
    """What a record calls a candidate: what it changes.

    >>> candidate_name("sghmc", {"samples": 4, "widths": (32, 64)})
    'sghmc+samples=4+widths=32x64'
    """
    return "+".join([base, *(f"{name}={_written(value)}" for name, value in changes.items())])


@dataclass(frozen=True)
class Candidate:
    """What is known of one candidate."""

    name: str
    value: float
    """Higher is better; the mean over all it was measured on."""
    places: int
    """On how many things it was measured."""
    guard: float = 0.0
    """Another number that should be at least as high as asked."""


def choose(compared: Sequence[Candidate], *, least: float = 0.0) -> Candidate:
    """Of those measured on the most things the best with a guard of ``least``; if none, the highest guard."""
    most = max(each.places for each in compared)
    whole = [each for each in compared if each.places == most]
    good = [each for each in whole if each.guard >= least]
    if good:
        return max(good, key=lambda each: each.value)
    return max(whole, key=lambda each: each.guard)


def _parse(text: str, kind: str, axis: str) -> Any:
    try:
        if kind.startswith("tuple"):
            return tuple(int(width) for width in text.split("x"))
        if kind.startswith("int"):
            return int(text)
        return float(text) if kind.startswith("float") else text
    except ValueError:
        raise SettingsError(f"{axis!r}: {text!r} is not a value of this setting ({kind})") from None


def _written(value: Any) -> str:
    return "x".join(map(str, value)) if isinstance(value, tuple) else str(value)
