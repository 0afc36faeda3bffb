"""HTML pages from the templates beside this file; every value is escaped on its way into a page."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from dissensus.errors import SettingsError

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["document", "require_jinja"]

# Control characters, what turns the direction of writing, and the half characters that stand for the bytes of
# a file's name that are no text: HTML escapes none of them.
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def require_jinja() -> None:
    """Refuses at once where no page could be made."""
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise SettingsError("the report needs jinja2: pip install 'dissensus[report]'") from None


def document(page: str, **values: object) -> str:
    """Return the page ``templates/<page>.html`` filled with ``values``: one file that needs nothing else."""
    return _environment().get_template(f"{page}.html").render(values)


@cache
def _environment() -> Environment:
    require_jinja()
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("dissensus.report"),
        autoescape=True,
        finalize=_visible,
        undefined=StrictUndefined,  # a value that was forgotten is an error, not a gap in the page
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _visible(value: Any) -> Any:
    """The value, with characters that nobody would see written out, so that no name can rearrange a line."""
    if type(value) is not str:  # HTML that was escaped already is a string of another type
        return value
    return UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), value)
