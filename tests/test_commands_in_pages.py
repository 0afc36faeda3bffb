"""What pages tell to type exists: every command of `dissensus` that a page shows, with every option."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from dissensus.cli import app

ROOT = Path(__file__).parents[1]

if not (ROOT / "docs").is_dir():
    pytest.skip("the documents are not here: this is not a checkout", allow_module_level=True)

COMMANDS = {
    name: {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
    for name, command in typer.main.get_command(app).commands.items()
}
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def typed(text):
    """The command lines of a page's fenced blocks, without comments, prompts and what follows a pipe."""
    for language, block in re.findall(r"^```(\S*)[^\n]*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        if language not in ("", "sh", "bash"):
            continue
        for line in re.sub(r"\\\n", " ", block).splitlines():
            for part in re.split(r"&&|\||>", line):
                if part.strip().startswith("dissensus "):
                    yield part.strip()


def unknown(line):
    """What of a line there is not: its command, or options."""
    words = shlex.split(line, comments=True)[1:]
    if not words or words[0].startswith("-") or words[0] == "COMMAND":
        return []
    if words[0] not in COMMANDS:
        return [words[0]]
    given = {word.partition("=")[0] for word in words[1:] if re.match(r"--?[a-z]", word)}
    return sorted(given - COMMANDS[words[0]] - {"--help", "-h"})


def test_every_command_and_option_that_pages_show_is_there():
    lines = {(page.name, line) for page in PAGES for line in typed(page.read_text("utf-8"))}
    assert len(lines) > 60
    assert {(name, line): found for name, line in sorted(lines) if (found := unknown(line))} == {}


def test_what_is_not_there_is_found():
    assert unknown("dissensus fitt rows.csv") == ["fitt"]
    assert unknown("dissensus fit rows.csv -o gate/ --speed fast # --no") == ["--speed"]
