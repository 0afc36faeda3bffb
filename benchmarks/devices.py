"""What a record calls the device that a benchmark ran on."""

from __future__ import annotations

import torch

__all__ = ["gpu_name"]


def gpu_name(device: torch.device) -> str | None:
    """The accelerator's name, for records."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else None
