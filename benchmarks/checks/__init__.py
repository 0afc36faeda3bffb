"""Single properties of the product, each measured by a file of its own: ``python -m benchmarks checks``.

A check is a file with two functions: ``pieces`` says what is to be measured, and ``sentences`` puts the
records into words. One line in ``registry`` makes it known. Nothing is imported here, so that the command
line can describe the command at once.
"""

__all__: list[str] = []
