"""``dissensus bench``: benchmarks that ship with the package."""

from dissensus.bench.paper.command import bench_paper

__all__ = ["bench_paper"]
