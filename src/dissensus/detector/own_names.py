"""Code of a person's own that she names on the command line, or in a service's settings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from dissensus.models import GenerativeModel, ObservationModel
from dissensus.own_code import import_class
from dissensus.scores import Score

__all__ = ["OwnCode", "import_own"]


class OwnCode(TypedDict):
    """Classes by the argument of ``Detector.load`` that takes them."""

    statistic: tuple[type[Score], ...]
    model: tuple[type[GenerativeModel], ...]
    observation: tuple[type[ObservationModel], ...]


def import_own(
    *, scores: Iterable[str] = (), models: Iterable[str] = (), observations: Iterable[str] = ()
) -> OwnCode:
    """Import the classes that a person named as ``package:Class``."""
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
    }
