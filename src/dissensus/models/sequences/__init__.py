"""Sequences of symbols: strings of molecules, expressions, anything that a vocabulary lists."""

from dissensus.models.sequences.model import Sequences

__all__ = ["Sequences"]
