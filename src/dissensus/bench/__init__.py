"""Benchmarks that ship with the package: measured by one command, kept as records."""

__all__: list[str] = []
