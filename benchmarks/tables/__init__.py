"""Detectors on tables and embeddings, ours beside those a reader would try: ``python -m benchmarks tables``.

From left to right: ``sets`` (which tables, and which rows of them are fitted on), ``contract``, ``simple``,
``others``, ``ours`` and ``detectors`` (what is measured, a line each), ``measure`` (one table, seed and
detector), ``processes`` and ``jobs`` (all of them, resumed where they were stopped), then ``summary``,
``table`` and ``figure``, which read records alone, and ``numbers``, which fills documents. ``candidates`` and
``selection`` compare settings of the detector by what is chosen on some sets and seen on others.

Nothing is imported here, so that the command line can describe the command at once.
"""

__all__: list[str] = []
