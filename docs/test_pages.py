"""The Python lines of the start and how-to pages run, in the order they stand in; `make docs` sees to it.

They are run as written. Only the pictures that come along are fewer and smaller and the schedules shorter.
"""

import dataclasses
import re
import runpy
import sys
from pathlib import Path

import pytest

import dissensus
from dissensus import inputs, schedule

HERE = Path(__file__).parent
PAGES = sorted([*HERE.glob("start/*.md"), *HERE.glob("how-to/*.md")])
BLOCK = re.compile(r"^```python(?: file=(\S+))?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def with_python(pages):
    """Those of the pages that hold lines to run."""
    return [page for page in pages if BLOCK.search(page.read_text("utf-8"))]


def first(part, count):
    """A few of its pictures, every third pixel of them."""
    return dataclasses.replace(part, images=part.images[:count, ::3, ::3], labels=part.labels[:count])


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Short schedules, small samples, and an empty folder to work in."""
    monkeypatch.setattr(schedule, "LEAST_EPOCHS", 12)
    monkeypatch.setattr(schedule, "LEAST_STEPS", 1)
    train, test = inputs.load_sample()
    monkeypatch.setattr(
        dissensus, "load_sample", lambda: (first(train, 160), first(test, 100)), raising=False
    )
    digits = inputs.digits()[:, ::3, ::3]
    monkeypatch.setattr(inputs, "digits", lambda: digits)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in ("my_model", "my_scores"):
        sys.modules.pop(name, None)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("page", with_python(PAGES), ids=lambda page: page.stem)
def test_the_lines_of_a_page_run(page, small):
    """Blocks that name a file are that file; the others are one program."""
    program = []
    for name, code in BLOCK.findall(page.read_text("utf-8")):
        if name:
            (small / name).write_text(code, "utf-8")
        else:
            program.append(code)
    (small / "page.py").write_text("\n".join(program), "utf-8")
    runpy.run_path(str(small / "page.py"), run_name="__main__")
