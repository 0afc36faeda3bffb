"""Where things are in the checkout that the benchmarks belong to."""

from pathlib import Path

__all__ = ["RESULTS", "ROOT"]

ROOT = Path(__file__).parents[1]
"""The checkout; ``python -m benchmarks`` finds the benchmarks from there."""
RESULTS = ROOT / "results"
