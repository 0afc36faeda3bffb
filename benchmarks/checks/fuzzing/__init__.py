"""Mutated gates and input files, for :mod:`benchmarks.checks.fuzz`.

Each ``gate_…`` and ``input_…`` file changes one part of the ``originals``, and ``asking`` judges what comes
of it; ``kinds`` says how often each is tried. ``running`` runs cases within the ``limits``, and ``tally``
sums up what the processes found.
"""

__all__: list[str] = []
