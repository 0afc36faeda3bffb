"""A block of code without threads in the libraries of numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache

from threadpoolctl import ThreadpoolController

from dissensus.process_wide import ProcessWide

__all__ = ["one_thread"]


def _limited(kind: str) -> AbstractContextManager[object]:
    """One thread in the libraries of a kind; those of other kinds are left alone at the end, too."""
    found = _loaded(len(sys.modules)).select(user_api=kind)
    limit: AbstractContextManager[object] = found.limit(limits=1)
    return limit


@lru_cache(maxsize=1)
def _loaded(_modules: int) -> ThreadpoolController:
    """The libraries there are: to find them takes ten milliseconds, and more of them come with a module."""
    return ThreadpoolController()


_one_blas_thread = ProcessWide(lambda: _limited("blas"))


@contextmanager
def one_thread() -> Iterator[None]:
    """A block without threads: of thousands of products this small they would only wait for each other.

    On a busy machine they did so for a minute. BLAS has one number of threads for the process, OpenMP one for
    each thread that calls it: the first goes back when the last block ends, the second at the end of each.
    """
    with _one_blas_thread(), _limited("openmp"):
        yield
