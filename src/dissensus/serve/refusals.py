"""Answers that are no results: a status and one clear sentence."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["Overloaded", "Refusal", "clear"]

LONGEST = 500


class Refusal(Exception):  # noqa: N818 the service works: it is the request that does not
    """The request is answered with ``status`` and ``{"error": message}``."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = clear(message)
        self.headers = dict(headers or {})


class Overloaded(Refusal):
    """There is no room now; ``seconds`` says when there should be."""

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(429, f"{message}: try again in {seconds} s", {"Retry-After": str(seconds)})


def clear(text: str) -> str:
    r"""One line of text that every client can read: no control characters, nothing that UTF-8 cannot say.

    >>> clear("a\n b\ud800")
    'a b\\ud800'
    """
    printable = "".join(character if character.isprintable() else " " for character in _sayable(text))
    line = " ".join(printable.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"


def _sayable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
