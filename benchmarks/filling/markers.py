"""Places in Markdown that are filled in, marked by comments that nobody sees where the page is shown.

A number is ``<!--n NAME FORMAT-->.969<!--/n-->``, a table stands between ``<!-- table: NAME -->`` and
``<!-- /table -->``, each on a line of its own. What looks like one in code is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from dissensus.errors import DataError

__all__ = ["fill"]

NUMBER = re.compile(r"<!--n (?P<name>\S+) (?P<how>\S+)-->(?P<shown>[^<\n]*)<!--/n-->")
TABLE = re.compile(
    r"^<!-- table: (?P<name>\S+) -->\n(?P<shown>(?:(?!<!--).*\n)*?)<!-- /table -->$", re.MULTILINE
)
LOOSE = re.compile(r"<!--\s*/?(?:n\b|table\b).*?-->", re.DOTALL)
FIRST = re.compile(r"^[ >]*(?:[-*+] +|\d+\. +)?<!--n .*?-->", re.MULTILINE)
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)


def fill(text: str, number: Callable[[str, str], str], table: Callable[[str], str]) -> tuple[str, list[str]]:
    """Return the text with every marked place filled in, and what was wrong there, in words.

    >>> text = "Rate <!--n a.rate .1f-->9.9<!--/n--> a second"
    >>> fill(text, lambda name, how: "9.8", lambda name: "")
    ('Rate <!--n a.rate .1f-->9.8<!--/n--> a second', ['line 1: a.rate is 9.8, not 9.9'])
    """
    shown = CODE.sub(_blank, text)
    _refuse_loose_ends(shown)
    places = [(found, number(found["name"], found["how"])) for found in NUMBER.finditer(shown)]
    places += [(found, table(found["name"]).strip("\n") + "\n") for found in TABLE.finditer(shown)]
    parts, wrong, end = [], [], 0
    for found, new in sorted(places, key=lambda place: place[0].start()):
        old = text[found.start("shown") : found.end("shown")]
        if new != old:
            line = text.count("\n", 0, found.start()) + 1
            what = "is not what its records give" if "\n" in new else f"is {new}, not {old or 'empty'}"
            wrong.append(f"line {line}: {found['name']} {what}")
        parts += [text[end : found.start("shown")], new]
        end = found.end("shown")
    return "".join([*parts, text[end:]]), wrong


def _refuse_loose_ends(text: str) -> None:
    """Raises on a marker that is not whole, or where it would keep Markdown from being read."""
    rest = TABLE.sub(_blank, NUMBER.sub(_blank, text))
    for found, why in (
        *((found, "is no whole marker") for found in LOOSE.finditer(rest)),
        *(
            (found, "begins a line, which is HTML then: put a word before it")
            for found in FIRST.finditer(text)
        ),
    ):
        line = text.count("\n", 0, found.start()) + 1
        raise DataError(
            f"line {line}: {found[0].strip()!r} {why}; a number is <!--n NAME FORMAT-->1.0<!--/n-->, a table "
            "stands between lines with <!-- table: NAME --> and <!-- /table -->"
        )


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])
