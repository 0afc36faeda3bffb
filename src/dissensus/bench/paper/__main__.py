"""``python -m dissensus.bench.paper``: the same as ``dissensus bench paper``."""

import typer

from dissensus.bench.paper.command import bench_paper

if __name__ == "__main__":
    typer.run(bench_paper)
