"""The detector's settings, refused before any work is done where they cannot work."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, get_args

import torch

from dissensus.detector.statistic import check_statistic
from dissensus.errors import SettingsError
from dissensus.likelihood import Proposal

if TYPE_CHECKING:
    from dissensus.detector.estimator import BayesianVAE

__all__ = ["check_settings", "find_device"]


def check_settings(detector: BayesianVAE) -> None:
    """Refuses what cannot work, in one sentence that names the setting."""
    if detector.variant not in (1, 2):
        raise SettingsError(f"variant must be 1 or 2, got {detector.variant!r}")
    if detector.proposal not in get_args(Proposal):
        raise SettingsError(f"proposal must be 'own' or 'pooled', got {detector.proposal!r}")
    for name in ("chains", "draws", "samples"):
        _check_count(name, getattr(detector, name))
    for name in ("latent_size", "epochs", "batch_size"):
        if getattr(detector, name) is not None:
            _check_count(name, getattr(detector, name))
    examples: object = detector.examples
    if not isinstance(examples, Integral) or examples < 0:
        raise SettingsError(f"examples must be a whole number, 0 for none, got {examples!r}")
    check_statistic(detector.statistic, int(detector.draws))
    if detector.draws % detector.chains:
        raise SettingsError(f"draws={detector.draws} must be a multiple of chains={detector.chains}")
    rate: object = detector.false_alarm_rate
    if not isinstance(rate, Real) or not 0 < float(rate) < 1:
        raise SettingsError(f"false_alarm_rate must lie between 0 and 1, got {rate!r}")
    if (detector.encoder is None) != (detector.decoder is None):
        raise SettingsError("encoder and decoder belong together: pass both or none")
    if detector.encoder is not None and detector.latent_size is None:
        raise SettingsError("latent_size must be given with networks of your own")
    find_device(detector.device)


def find_device(name: str) -> torch.device:
    """The device of that name; ``"auto"`` is a GPU where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:  # torch asserts that it was built with CUDA
        raise SettingsError(
            f"device={name!r} is not there: use 'cpu', or 'auto' for a GPU if there is one"
        ) from error
    return device


def _check_count(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise SettingsError(f"{name} must be a whole number of at least 1, got {value!r}")
