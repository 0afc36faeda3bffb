"""What dissensus is measured by, beside the package and not in its wheel: ``python -m benchmarks --help``."""

__all__: list[str] = []
