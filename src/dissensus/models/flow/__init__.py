"""Normalising flows, densities of rows that are exact."""

from dissensus.models.flow.families import MAF, NSF, RealNVP
from dissensus.models.flow.model import Flow

__all__ = ["MAF", "NSF", "Flow", "RealNVP"]
