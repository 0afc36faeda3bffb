"""Autoregressive densities of pictures: each pixel given those above it and to its left, exactly."""

from dissensus.models.autoregressive.model import PixelCNN

__all__ = ["PixelCNN"]
