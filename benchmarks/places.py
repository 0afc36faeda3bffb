"""Where things are in the checkout that the benchmarks belong to."""

from pathlib import Path

__all__ = ["CACHE", "RESULTS", "ROOT"]

ROOT = Path(__file__).parents[1]
"""The checkout; ``python -m benchmarks`` finds the benchmarks from there."""
RESULTS = ROOT / "results"
CACHE = ROOT / ".cache" / "benchmarks"
"""Raw scores and matrices, which git ignores."""
