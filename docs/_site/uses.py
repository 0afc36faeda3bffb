"""Where a public name is used: in a page, an example or a test, all of which are run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
MOST_LINES = 12
PLACES = ("examples/*.py", "docs/**/*.md", "tests/**/*.py", "benchmarks/**/*.py", "src/**/*.py")  # best to read first


class Use(NamedTuple):
    """A statement that uses a name, and the file it stands in."""

    code: str
    path: str


def pieces(path: Path) -> Iterator[str]:
    """The Python code of a file; of a page that of its fenced blocks."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        yield text
    else:
        yield from re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def imported(tree: ast.Module) -> dict[str, str]:
    """Names as the code calls them, and as what of the package they stand for."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dissensus":
            found.update({alias.asname or alias.name: alias.name for alias in node.names})
    return found


def statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Simple statements, at any depth."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            if not isinstance(node, (ast.Import, ast.ImportFrom)):
                yield node
        elif isinstance(node, ast.ClassDef):
            if node.bases and len(ast.unparse(node).splitlines()) <= MOST_LINES:
                yield node


@cache
def uses() -> Mapping[str, Use]:
    """By name, its first use that is short enough to be read at a glance."""
    found: dict[str, Use] = {}
    for pattern in PLACES:
        for path in sorted(ROOT.glob(pattern)):
            for code in pieces(path):
                try:
                    tree = ast.parse(code)
                except SyntaxError:  # a page may leave things out
                    continue
                known = imported(tree)
                lines = code.splitlines()
                for statement in statements(tree):
                    text = lines[statement.lineno - 1 : statement.end_lineno]
                    if len(text) > MOST_LINES:
                        continue
                    shift = len(text[0]) - len(text[0].lstrip())
                    for node in ast.walk(statement):
                        name = known.get(node.id) if isinstance(node, ast.Name) else None
                        if name and name not in found:
                            where = path.relative_to(ROOT).as_posix()
                            found[name] = Use("\n".join(line[shift:] for line in text), where)
    return found
