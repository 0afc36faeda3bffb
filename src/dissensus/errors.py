"""What can go wrong, as one family of exceptions: each message names the thing and the remedy."""

__all__ = [
    "ArtifactError",
    "CalibrationWarning",
    "CheckpointError",
    "DataError",
    "DissensusError",
    "DivergenceError",
    "InputWarning",
    "SettingsError",
    "brief",
]

LONGEST = 300


class DissensusError(Exception):
    """Base of every error this package raises on purpose."""


class DataError(DissensusError, ValueError):
    """The inputs cannot be used: missing, corrupt, or of the wrong shape, type or range."""


class SettingsError(DissensusError, ValueError):
    """A setting, or a combination of settings, cannot work."""


class DivergenceError(DissensusError, ArithmeticError):
    """A chain left the finite numbers and was stopped."""


class CheckpointError(DissensusError):
    """A checkpoint is damaged or belongs to another run."""


class ArtifactError(DissensusError):
    """A saved detector is damaged, foreign, or newer than this package."""


class CalibrationWarning(UserWarning):
    """There are too few calibration rows for the false-alarm rate that was asked for."""


class InputWarning(UserWarning):
    """The inputs hold something that a person should look at; the fit goes on."""


def brief(error: BaseException) -> str:
    """What an error says in one line of a length that a terminal can show.

    >>> brief(ValueError("no such thing\\n  at 0x1"))
    'no such thing at 0x1'
    """
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
