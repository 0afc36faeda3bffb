"""Links that leave the folder of documents: to the pages that the site makes of files beside it."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

from sphinx.application import Sphinx

PAGES = {
    "../README.md": "index",
    "../CHANGELOG.md": "changelog",
    "../CONTRIBUTING.md": "contributing",
    "../examples": "gallery/index",
}
SHOWN = {"changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md"}
"""Pages that are files from outside, whole."""
ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|`[^`]*`)*)\]\(([^)\s]+)\)")


def page_of(target: str) -> str | None:
    """The page that shows a file from outside, by its path from the documents."""
    example = re.fullmatch(r"\.\./examples/(\w+)\.py", target)
    return f"gallery/{example[1]}" if example else PAGES.get(target)


def rewritten(text: str, document: str) -> str:
    """A page's text, whose links to files beside the documents lead to pages of the site or are words."""
    here = PurePosixPath("..") if document in SHOWN else PurePosixPath(document).parent

    def link(found: re.Match[str]) -> str:
        words, target = found[1], found[2]
        path, _, anchor = target.partition("#")
        if not path or re.match(r"[a-z]+:", target):
            return found[0]
        path = normpath((here / path).as_posix())
        if not path.startswith(".."):
            return found[0]
        anchor = f"#{anchor}" if anchor else ""
        if path.startswith("../docs/"):
            return f"[{words}]({path.removeprefix('../docs/')}{anchor})"
        page = page_of(path)
        if page is None:
            return words
        suffix = ".rst" if page.startswith("gallery/") else ".md"
        return f"[{words}]({relpath(page, PurePosixPath(document).parent)}{suffix})"

    return LINK.sub(link, text)


def on_read(app: Sphinx, document: str, content: list[str]) -> None:
    """Called by Sphinx with each page as it is read."""
    if document in SHOWN:
        content[0] = (ROOT / SHOWN[document]).read_text("utf-8")
    if not document.startswith("gallery/"):
        content[0] = rewritten(content[0], document)


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("source-read", on_read)
    return {"parallel_read_safe": True}
