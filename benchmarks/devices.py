"""What a record calls the device that a benchmark ran on."""

from __future__ import annotations

import torch

from dissensus.evaluation import environment

__all__ = ["gpu_name", "hardware"]


def gpu_name(device: torch.device) -> str | None:
    """The accelerator's name, for records."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else None


def hardware(device: torch.device) -> str:
    """What it ran on, in words: the accelerator, or the processor and how many cores of it."""
    found = environment()
    return gpu_name(device) or f"{found['processor']}, {found['cores']} cores"
