"""The detector's settings, refused before any work is done where they cannot work."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
import torch
from sklearn.utils import check_random_state

from dissensus.detector.effort import check_effort
from dissensus.detector.sampling import check_sampler
from dissensus.errors import SettingsError
from dissensus.inputs import Vocabulary, check_embedder
from dissensus.likelihood import check_proposal
from dissensus.models import AUTO
from dissensus.seeding import stream_seed

if TYPE_CHECKING:
    from dissensus.detector.estimator import Detector

__all__ = ["all_devices", "check_count", "check_settings", "find_device", "root_seed"]


def check_settings(detector: Detector) -> None:
    """Refuses what cannot work, in one sentence that names the setting."""
    check_proposal(detector.proposal)
    check_effort(detector.effort)
    check_count("samples", detector.samples)
    for name in ("chains", "draws", "epochs", "batch_size"):
        if getattr(detector, name) is not None:
            check_count(name, getattr(detector, name))
    adaptation: object = detector.adaptation
    if adaptation is not None and (not isinstance(adaptation, Integral) or adaptation < 0):
        raise SettingsError(
            f"adaptation must be a whole number of epochs, or None to choose it, got {adaptation!r}"
        )
    examples: object = detector.examples
    if not isinstance(examples, Integral) or examples < 0:
        raise SettingsError(f"examples must be a whole number, 0 for none, got {examples!r}")
    neighbours: object = detector.neighbours
    if not isinstance(neighbours, bool):
        raise SettingsError(f"neighbours must be True or False, got {neighbours!r}")
    check_embedder(detector.embed)
    _check_vocabulary(detector)
    check_sampler(detector)
    rate: object = detector.false_alarm_rate
    if not isinstance(rate, Real) or not 0 < float(rate) < 1:
        raise SettingsError(f"false_alarm_rate must lie between 0 and 1, got {rate!r}")
    find_device(detector.device)


def _check_vocabulary(detector: Detector) -> None:
    """Refuses models to which symbols would be numbers."""
    model = getattr(detector, "model", type(detector).__name__)
    if isinstance(detector.embed, Vocabulary) and isinstance(model, str) and model not in (AUTO, "sequences"):
        raise SettingsError(
            f"model={model!r} takes no symbols of a vocabulary: leave model out, or pass Sequences or "
            "a model of sequences of your own"
        )


def check_contamination(share: object) -> None:
    """Refuses what is no share of outliers."""
    if share is not None and (not isinstance(share, Real) or not 0 <= float(share) < 0.5):
        raise SettingsError(
            "contamination must be the share of outliers among the inputs, from 0 to below 0.5, or None, "
            f"got {share!r}"
        )


def root_seed(random_state: int | np.random.RandomState | None) -> int:
    """The number that all randomness of a fit comes from."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    if random_state is None:  # scikit-learn's own answer would move NumPy's global state
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1)
    return stream_seed(int(check_random_state(random_state).randint(2**31 - 1)))


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


def all_devices(device: torch.device) -> list[torch.device]:
    """The devices that are meant: ``cuda`` without a number is every GPU that this process sees."""
    if str(device) == "cuda" and torch.cuda.device_count() > 1:
        return [torch.device("cuda", number) for number in range(torch.cuda.device_count())]
    return [device]


def check_count(name: str, value: object) -> None:
    """Refuses what is no whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise SettingsError(f"{name} must be a whole number of at least 1, got {value!r}")
