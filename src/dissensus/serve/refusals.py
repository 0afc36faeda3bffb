"""Answers that are no results: a status and one clear sentence."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["Gone", "Overloaded", "Refusal", "TooLate", "clear"]

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


class TooLate(Refusal):
    """What was accepted is not ready after ``seconds``."""

    def __init__(self, seconds: float, *, retry_after: int) -> None:
        message = f"there was no answer within {seconds:.3g} s: send fewer inputs, or try again later"
        super().__init__(503, message, {"Retry-After": str(retry_after)})


class Gone(Refusal):
    """The client has closed its connection; the answer reaches nobody, and the status is for logs alone."""

    def __init__(self) -> None:
        super().__init__(499, "the connection was closed before there was an answer")


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
