"""Where a benchmark runs, and what a record calls it."""

from __future__ import annotations

import torch

from dissensus.errors import SettingsError

__all__ = ["find_device", "gpu_name"]


def find_device(name: str) -> torch.device:
    """``auto`` is a GPU where there is one.

    >>> find_device("cpu")
    device(type='cpu')
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name not in ("cpu", "cuda"):
        raise SettingsError(f"device is auto, cpu or cuda, not {name!r}")
    if name == "cuda" and not torch.cuda.is_available():
        raise SettingsError("device cuda was asked for, but torch finds no GPU; use auto or cpu")
    return torch.device(name)


def gpu_name(device: torch.device) -> str | None:
    """The accelerator's name, for records."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else None
