"""Numbers and tables in the README and the documents, filled in from records: ``python -m benchmarks fill``.

``markers`` finds the places in Markdown, ``formats`` prints a number, ``registry`` knows who has which
numbers: a benchmark's ``numbers.py``, where each is a small function of the results. Nothing is imported
here, so that the command line can describe the command at once.
"""

__all__: list[str] = []
