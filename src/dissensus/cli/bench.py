"""``dissensus bench``: benchmarks that ship with the package."""

from dissensus.bench.guarantees.command import bench_guarantees
from dissensus.bench.paper.command import bench_paper

__all__ = ["bench_guarantees", "bench_paper"]
