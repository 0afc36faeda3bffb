"""How fast is it, and how fast is what a person would use instead? Measured side by side, in one run.

Each part measures one thing and leaves one record a device (``training``, ``training-bound``, ``decoding``,
``single``, ``efforts``, ``sizes``, ``anomalib``, ``growth``, ``rivals``, ``rows``, ``startup``,
``beside-others``, ``same-bits``, ``accuracy``, ``trajectory``, ``end-to-end``, ``table-row``,
``whole-table``); ``table`` and ``figures`` read the records alone. Nothing is imported here, so that the
command line can describe the command at once.
"""

__all__: list[str] = []
