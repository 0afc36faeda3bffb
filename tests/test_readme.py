"""The README keeps its word: its lines run as written, its links work, it is short.

That its numbers are the records' is tested with those of all pages, in tests/benchmarks/test_filling.py.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
MOST_WORDS = 800

if not (ROOT / "docs").is_dir():
    pytest.skip("the documents are not here: this is not a checkout", allow_module_level=True)

SHORT = """
import dissensus.schedule
dissensus.schedule.LEAST_EPOCHS, dissensus.schedule.LEAST_STEPS = 12, 1
"""
SMALL = """
import dataclasses, dissensus, dissensus.inputs
def first(part, count):
    return dataclasses.replace(part, images=part.images[:count, ::3, ::3], labels=part.labels[:count])
train, test = dissensus.load_sample()
dissensus.load_sample = lambda: (first(train, 160), first(test, 100))
all_digits = dissensus.inputs.digits()
dissensus.inputs.digits = lambda: all_digits[:, ::3, ::3]
"""

PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
BESIDE = [ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]


def blocks(language):
    """The fenced blocks of the README in a language, as written."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def prose(page):
    """A page without its fenced blocks and code, whose brackets are no links."""
    return re.sub(r"`[^`\n]*`", "code", re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE))


def anchors(page):
    """The anchors that a page's headings get where it is shown."""
    found = set()
    text = re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE)
    for heading in re.findall(r"^#+ +(.+?)\s*$", text, re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = sum(
            each == name or re.fullmatch(rf"{re.escape(name)}-\d+", each) is not None for each in found
        )
        found.add(f"{name}-{number}" if number else name)
    return found


def broken_links(path):
    """The relative links of a page that point to no file, or to no heading of one."""
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)(?: \"[^\"]*\")?\)", prose(path.read_text("utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = unquote(target).partition("#")
        where = (path.parent / name).resolve() if name else path
        if not where.exists() or (anchor and anchor not in anchors(where.read_text("utf-8"))):
            broken.append(target)
    return broken


def test_the_readme_is_one_page():
    assert len(README.read_text("utf-8").split()) <= MOST_WORDS


@pytest.mark.parametrize("page", PAGES + BESIDE, ids=lambda page: page.name)
def test_every_relative_link_leads_somewhere(page):
    assert broken_links(page) == []


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "b.md").write_text("# One two\n\n```\n# three\n```\n", "utf-8")
    page = tmp_path / "a.md"
    page.write_text(
        "[1](b.md) [2](b.md#one-two) [3](https://example.org/x.md) `[4](no.md)`\n"
        "![5](gone.png) [6](b.md#three) [7](gone/)\n",
        "utf-8",
    )
    assert broken_links(page) == ["gone.png", "b.md#three", "gone/"]


def test_every_page_of_the_documents_can_be_reached_from_the_readme():
    reached, waiting = set(), [README]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            links = re.findall(r"\]\(([^)\s#:]+\.md)", prose(page.read_text("utf-8")))
            waiting += [(page.parent / unquote(link)).resolve() for link in links]
    assert set(PAGES) <= reached


def test_what_is_installed_and_made_exists():
    text = "\n".join(blocks(""))
    extras = set(re.findall(r"\[([a-z,-]+)\]", text))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert extras
    assert extras <= set(project["optional-dependencies"])
    targets = set(re.findall(r"^make ([a-z-]+)", text, re.MULTILINE))
    assert targets >= {"demo", "test"}
    made = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert targets <= set(made)


@pytest.mark.slow
@pytest.mark.first
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash to run the shell lines")
def test_the_lines_run_as_written(tmp_path):
    """First the Python lines, then the shell lines, which use what those leave.

    They are run as they stand in the README. Only the sample that comes along is smaller and the schedule
    shorter, so that it takes seconds: every third pixel of the first 160 and 100 pictures, and 12 epochs.
    """
    (python,), (shell,) = blocks("python"), blocks("sh")
    # A command of this very checkout, whatever else is installed.
    command = tmp_path / "bin" / "dissensus"
    command.parent.mkdir()
    command.write_text(f"#!{sys.executable}\n{SHORT}from dissensus.cli import main\nmain()\n", "utf-8")
    command.chmod(0o755)
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",  # other tests run beside this one
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
    }
    where = tmp_path / "work"
    where.mkdir()

    def run(*arguments):
        done = subprocess.run(
            arguments, cwd=where, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    said = run(sys.executable, "-c", SHORT + SMALL + python)
    assert len(re.findall(r"-?\b1\b", said.partition("]")[0])) == 100  # a verdict for each picture
    run("bash", "-e", "-u", "-c", shell)
    rows = (where / "rows.csv").read_text("utf-8").splitlines()
    assert rows[0] == "input,score,p_value,flagged"
    assert len(rows) == 101
    assert (where / "report.html").is_file()
    assert (where / "gate" / "config.json").is_file()
