"""What can go wrong, as one family of exceptions: each message names the thing and the remedy."""

import errno
import os

__all__ = [
    "FULL",
    "ArtifactError",
    "CalibrationWarning",
    "CheckpointError",
    "DataError",
    "DissensusError",
    "DivergenceError",
    "InUseError",
    "InputWarning",
    "OutputError",
    "SamplerWarning",
    "SettingsError",
    "brief",
    "not_written",
]

LONGEST = 300
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The system's numbers for a place that takes no more bytes."""


class DissensusError(Exception):
    """Base of every error this package raises on purpose."""


class DataError(DissensusError, ValueError):
    """The inputs cannot be used: missing, corrupt, or of the wrong shape, type or range."""


class SettingsError(DissensusError, ValueError):
    """A setting, or a combination of settings, cannot work."""


class NoLatentSpaceError(SettingsError, AttributeError):
    """The detector's model has no latent space, so that ``hasattr(detector, "latent")`` is False."""


class DivergenceError(DissensusError, ArithmeticError):
    """A chain left the finite numbers and was stopped."""


class CheckpointError(DissensusError):
    """A checkpoint is damaged or belongs to another run."""


class ArtifactError(DissensusError):
    """A saved detector is damaged, foreign, or newer than this package."""


class OutputError(DissensusError):
    """A file could not be written: the disk is full, say, or was taken away. The work has failed."""


class InUseError(DissensusError):
    """Another process is writing to the same place."""


class CalibrationWarning(UserWarning):
    """There are too few calibration rows for the false-alarm rate that was asked for."""


class SamplerWarning(UserWarning):
    """The draws are not draws of the posterior: the chains are too hot, too cold, or have not settled."""


class InputWarning(UserWarning):
    """The inputs hold something that a person should look at; the fit goes on."""


def brief(error: BaseException) -> str:
    """What an error says in one line of a length that a terminal can show.

    >>> brief(ValueError("no such thing\\n  at 0x1"))
    'no such thing at 0x1'
    """
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def not_written(what: object, error: BaseException) -> OutputError:
    """The error to raise where writing ``what`` failed, with the remedy that fits the reason.

    >>> str(not_written("rows.csv", OSError(errno.ENOSPC, "No space left on device")))
    'rows.csv cannot be written (No space left on device): free some space or choose another place'
    >>> str(not_written("rows.csv", OSError(errno.EROFS, "Read-only file system")))
    'rows.csv cannot be written (Read-only file system): choose another place'
    """
    reason = error.strerror if isinstance(error, OSError) and error.strerror else brief(error)
    # Safetensors raises errors of its own, whose text alone says what the system had said.
    full = any(getattr(error, "errno", None) == code or os.strerror(code) in reason for code in FULL)
    remedy = "free some space or choose another place" if full else "choose another place"
    return OutputError(f"{what} cannot be written ({reason}): {remedy}")
