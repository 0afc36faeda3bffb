"""Settings of the whole process that several threads want at once.

Whoever comes first makes the setting and whoever leaves last takes it back: otherwise a thread that is done
would take it from one that is not.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

__all__ = ["ProcessWide"]


class ProcessWide:
    """Called, gives a block that ``make``'s block surrounds, once for all such blocks that are open.

    >>> from contextlib import nullcontext
    >>> once = ProcessWide(lambda: nullcontext(print("made")))
    >>> with once(), once():
    ...     print("inside")
    made
    inside
    """

    def __init__(self, make: Callable[[], AbstractContextManager[object]]) -> None:
        self._make = make
        self._lock, self._inside, self._way_back = threading.Lock(), 0, ExitStack()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """The block."""
        with self._lock:
            if self._inside == 0:
                self._way_back.enter_context(self._make())
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0:
                    self._way_back.close()
