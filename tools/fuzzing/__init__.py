"""Mutated gates and input files; ``tools/fuzz_artifacts.py`` is the command.

Each ``gate_…`` and ``input_…`` file changes one part of the ``originals``, and ``asking`` judges what comes
of it; ``kinds`` says how often each is tried. ``running`` runs cases within the ``limits``, ``command``
starts the processes that do so, and ``record`` sums up what they found.
"""
