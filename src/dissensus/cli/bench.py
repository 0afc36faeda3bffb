"""``dissensus bench``: benchmarks that ship with the package."""

from dissensus.bench.guarantees.command import bench_guarantees
from dissensus.bench.panel.command import bench_panel
from dissensus.bench.paper.command import bench_paper
from dissensus.bench.service.command import bench_service
from dissensus.bench.speed.command import bench_speed

__all__ = ["bench_guarantees", "bench_panel", "bench_paper", "bench_service", "bench_speed"]
