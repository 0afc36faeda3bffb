"""Simple detectors beside ours: ``detectors`` has them by name, ``measure`` makes their records.

Which inputs they learn from and are asked about is a benchmark's own business:
``benchmarks.panel.baselines`` and ``benchmarks.paper.baselines``.
"""

__all__: list[str] = []
