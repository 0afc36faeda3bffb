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
PLACES = (
    "examples/*.py",
    "docs/**/*.md",
    "tests/**/*.py",
    "benchmarks/**/*.py",
    "src/**/*.py",
)  # best to read first


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


def defined(tree: ast.Module) -> dict[str, str]:
    """What a module itself defines at its top."""
    found = [each.name for each in tree.body if isinstance(each, (ast.ClassDef, ast.FunctionDef))]
    for each in tree.body:
        targets = each.targets if isinstance(each, ast.Assign) else [getattr(each, "target", None)]
        found += [target.id for target in targets if isinstance(target, ast.Name)]
    return dict(zip(found, found, strict=True))


def statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Simple statements at any depth, and classes that are short."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        if isinstance(node, ast.stmt) and (not hasattr(node, "body") or isinstance(node, ast.ClassDef)):
            yield node


def named(tree: ast.Module, known: Mapping[str, str]) -> Iterator[tuple[ast.Name, str]]:
    """Every mention of something of the package, with what it stands for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in known:
            yield node, known[node.id]


@cache
def uses() -> Mapping[str, Use]:
    """By name, its first use in a statement that is short, or else the line that mentions it."""
    found: dict[str, Use] = {}
    mentioned: dict[str, Use] = {}
    at_home: dict[str, Use] = {}
    for pattern in PLACES:
        for path in sorted(ROOT.glob(pattern)):
            where = path.relative_to(ROOT).as_posix()
            for code in pieces(path):
                try:
                    tree = ast.parse(code)
                except SyntaxError:  # a page may leave things out
                    continue
                known, own, lines = imported(tree), defined(tree), code.splitlines()
                for statement in statements(tree):
                    text = lines[statement.lineno - 1 : statement.end_lineno]
                    shift = len(text[0]) - len(text[0].lstrip())
                    if len(text) > MOST_LINES:
                        continue
                    for _, name in named(ast.Module([statement], []), known):
                        found.setdefault(name, Use("\n".join(line[shift:] for line in text), where))
                for node, name in named(tree, known):
                    mentioned.setdefault(name, Use(lines[node.lineno - 1].strip(), where))
                for node, name in named(tree, own) if where.startswith("src") else ():
                    if not isinstance(node.ctx, ast.Store):
                        at_home.setdefault(name, Use(lines[node.lineno - 1].strip(), where))
    return {**at_home, **mentioned, **found}
