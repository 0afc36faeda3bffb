"""A score of a person's own, tried out on made-up numbers before anything expensive is done for it."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from dissensus.errors import SettingsError, brief
from dissensus.own_code import name_of
from dissensus.scores._contract import Score, scored
from dissensus.scores._measured import MATRIX, Measured
from dissensus.scores._registry import SCORES, is_built_in

__all__ = ["check_own", "made_up", "rehearse"]

NAME = re.compile(r"\w[\w .+-]{0,99}")
MOST_INLIERS, ASKED = 200, 5


def check_own(own: Score) -> None:
    """Refuse a score that could not be saved and loaded again; every score of the package can be."""
    if is_built_in(own):
        return
    kind = type(own)
    called = name_of(kind)
    if not isinstance(own.name, str) or NAME.fullmatch(own.name) is None:
        raise SettingsError(
            f"the score {called} is called {str(own.name)[:99]!r}: its name must be of letters, digits, "
            "dots, dashes and spaces"
        )
    if own.name in SCORES:
        raise SettingsError(
            f"the score {called} has the name of one of the package: call it other than {own.name!r}"
        )
    if own.learns and (kind.state is Score.state or kind.restore is Score.restore):
        raise SettingsError(
            f"the score {called} learns, and what it learns could not be saved: write state() and restore()"
        )
    _rebuilt(own)


def rehearse(own: Score, *, draws: int, inliers: int) -> None:
    """Refuse a score that does not give a number an input, or another one after ``restore(state())``.

    It is fitted on a copy, with as many draws as there will be, and asked about numbers of the usual size.
    """
    trial = _rebuilt(own)
    try:
        asked = made_up(own, draws=draws, inputs=ASKED, seed=1)
        values = scored(trial.fit(made_up(own, draws=draws, inputs=min(inliers, MOST_INLIERS))), asked)
        state = {name: np.array(array, dtype=np.float64) for name, array in trial.state().items()}
        again = scored(_rebuilt(own).restore(state), asked)
    except Exception as error:  # whatever a person's own code does
        raise SettingsError(
            f"the score {own.name} fails on made-up numbers ({type(error).__name__}: {brief(error)}): "
            "nothing was fitted, mend it first"
        ) from error
    if not np.array_equal(values, again):
        raise SettingsError(
            f"the score {own.name} scores otherwise after restore(state()), so that a saved gate would: mend "
            "them"
        )


def made_up(own: Score, *, draws: int, inputs: int, seed: int = 0) -> Measured:
    """Return what a score requires of inputs that there are not: numbers of the usual size."""
    random = np.random.default_rng(seed)
    matrix = random.normal(-100.0, 5.0, size=(draws, inputs))
    return Measured(
        matrix if MATRIX in own.requires else None,
        {name: random.gamma(4.0, size=inputs) for name in own.requires if name != MATRIX},
    )


def _rebuilt(own: Score) -> Score:
    """Return the score as it would come out of a file, unfitted."""
    called = name_of(type(own))
    try:
        written = _written(own)
        again = type(own).from_config(json.loads(written))
        same = _written(again) == written
    except SettingsError:
        raise
    except Exception as error:  # JSON's errors, and whatever a constructor raises
        raise SettingsError(
            f"the score {called} could not be loaded back from its config() ({brief(error)}): give it "
            "arguments that JSON can hold, or write config() and from_config()"
        ) from error
    if not same:
        raise SettingsError(
            f"the score {called} comes back otherwise from its config(): mend config() and from_config()"
        )
    return again


def _written(own: Score) -> str:
    config: Any = own.config()
    return json.dumps(config, sort_keys=True, allow_nan=False)
