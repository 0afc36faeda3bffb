"""All final records again, in parts of at most ten minutes: ``python -m benchmarks all --gpu`` and ``--cpu``.

``parts`` is the list of what is run, as data: a new benchmark adds a line there. ``plan`` finds out how long
a part takes. Nothing is imported here, so that the command line can describe the command at once.
"""

__all__: list[str] = []
