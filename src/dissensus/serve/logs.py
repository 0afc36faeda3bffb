"""Structured logs: one line an event, never a payload, never a key."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from typing import Any, TextIO

__all__ = ["log", "set_up_logs"]

_logger = logging.getLogger("dissensus.serve")
_QUIET = ("uvicorn.access", "uvicorn.asgi")
_OTHERS = ("uvicorn", "asyncio", "py.warnings")
OFTEN, SPAN = 10, 60.0  # times in as many seconds that others may say the same thing


def log(event: str, *, level: str = "info", **facts: Any) -> None:
    """Writes an event with its facts, JSON values all of them; None is left out."""
    number = logging.getLevelNamesMapping()[level.upper()]
    if _logger.isEnabledFor(number):
        shown = {name: value for name, value in facts.items() if value is not None}
        _logger.log(number, event, extra={"facts": shown})


def set_up_logs(form: str, stream: TextIO | None = None) -> None:
    """Sends this package's events and others' warnings to ``stream`` (stderr) as ``json`` or ``text``."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Json() if form == "json" else _Text())
    others = logging.StreamHandler(stream or sys.stderr)
    others.setFormatter(handler.formatter)
    others.addFilter(NotTooOften())
    for name in (_logger.name, *_OTHERS):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler if logger is _logger else others], False
        logger.setLevel(logging.INFO if logger is _logger else logging.WARNING)
    for name in _QUIET:
        logging.getLogger(name).disabled = True


class NotTooOften(logging.Filter):
    """Lets the same message of the same place pass ten times a minute: clients can cause some at will."""

    def __init__(self) -> None:
        super().__init__()
        self._counts: Counter[tuple[str, int]] = Counter()
        self._since = time.monotonic()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written."""
        now = time.monotonic()
        if now - self._since > SPAN:
            self._counts.clear()
            self._since = now
        place = (record.pathname, record.lineno)
        self._counts[place] += 1
        if self._counts[place] == OFTEN:
            record.msg = f"{record.msg} (and no more of these in this minute)"
        return self._counts[place] <= OFTEN


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """One JSON object."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """A line for people."""
        facts = " ".join(f"{name}={value}" for name, value in getattr(record, "facts", {}).items())
        moment = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        event = " ".join(record.getMessage().split())  # a warning of Python's has several lines
        line = f"{moment} {record.levelname.lower():7} {event} {facts}".rstrip()
        return line + (f"\n{self.formatException(record.exc_info)}" if record.exc_info else "")
