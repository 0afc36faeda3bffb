"""What long work says to Python's logging, for programs that have no terminal to draw a bar on."""

from __future__ import annotations

import logging
import time

from dissensus.detector.measuring import OnProgress

__all__ = ["logged"]

logger = logging.getLogger("dissensus")
EVERY = 5.0  # seconds between two messages about one stage


def logged(on_progress: OnProgress | None) -> OnProgress | None:
    """Return a callback that also logs at level INFO: each stage's begin and end, and every few seconds.

    Nothing is added where nobody listens to ``logging.getLogger("dissensus")`` at that level.
    """
    if not logger.isEnabledFor(logging.INFO):
        return on_progress
    said: tuple[str, float] = ("", 0.0)

    def both(stage: str, done: int, total: int) -> None:
        nonlocal said
        now = time.monotonic()
        if stage != said[0] or done == total or now - said[1] >= EVERY:
            logger.info("%s: %d of %d", stage, done, total)
            said = stage, now
        if on_progress is not None:
            on_progress(stage, done, total)

    return both
