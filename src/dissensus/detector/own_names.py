"""Code of a person's own that she names on the command line, or in a service's settings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict

from dissensus.errors import SettingsError, brief
from dissensus.inputs import Embedder
from dissensus.models import GenerativeModel, ObservationModel
from dissensus.own_code import import_class, import_named, is_own_name
from dissensus.scores import Score

__all__ = ["OwnCode", "import_embedder", "import_own"]


class OwnCode(TypedDict):
    """Classes by the argument of ``Detector.load`` that takes them."""

    statistic: tuple[type[Score], ...]
    model: tuple[type[GenerativeModel], ...]
    observation: tuple[type[ObservationModel], ...]
    embed: tuple[Any, ...]
    """Also functions, torch modules and paths."""


def import_own(
    *,
    scores: Iterable[str] = (),
    models: Iterable[str] = (),
    observations: Iterable[str] = (),
    embedders: Iterable[str] = (),
) -> OwnCode:
    """Import what a person named as ``package:Class``, and of embedders as ``package:name``."""
    return {
        "statistic": tuple(
            import_class(name, Score, option="--score")  # type: ignore[type-abstract]
            for name in scores
        ),
        "model": tuple(
            import_class(name, GenerativeModel, option="--model")  # type: ignore[type-abstract]
            for name in models
        ),
        "observation": tuple(
            import_class(name, ObservationModel, option="--observation")  # type: ignore[type-abstract]
            for name in observations
        ),
        "embed": tuple(import_embedder(name) for name in embedders),
    }


def import_embedder(name: str) -> Any:
    """Return what ``package:name`` is, or the text where it names a file.

    A class of embedders stays one, for a gate has its arguments; any other is made without arguments.
    """
    if not is_own_name(name):
        return name
    found = import_named(name, option="--embed")
    if not isinstance(found, type) or issubclass(found, Embedder):
        return found
    try:
        return found()
    except Exception as error:  # whatever its constructor raises
        raise SettingsError(
            f"--embed {name} cannot be made without arguments ({brief(error)}): name an object of it instead"
        ) from error
