"""Are the error rates kept? Measured on the scores of a real detector, over many random splits.

``scores`` (a detector to scores), ``measure`` (scores to a record), then ``sentences`` and ``figure``, which
read the record alone. Nothing is imported here, so that the command line can describe the command at once.
"""

__all__: list[str] = []
