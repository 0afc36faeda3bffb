"""The tests that need a GPU, run on the one that is here: which ran, on what, and how each ended.

These are the tests marked ``gpu``. The files that hold them import no more than what trains and measures
does, so that they run on a machine without the packages that other tests need.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import torch

from benchmarks.checks.asked import Asked
from benchmarks.devices import gpu_name
from benchmarks.pieces import Found, Piece
from benchmarks.places import ROOT
from benchmarks.records import Record
from dissensus.errors import DissensusError, SettingsError

__all__ = ["marked_files", "outcomes", "pieces", "sentences"]

MARK = "mark.gpu"
QUICK = ("tests/posterior/test_engine.py",)
ENDINGS = {"failure": "failed", "error": "failed", "skipped": "skipped"}


def pieces(asked: Asked) -> Iterator[Piece]:
    """All tests at once."""
    files = QUICK if asked.quick else marked_files(ROOT)
    here = gpu_name(torch.device("cuda")) if torch.cuda.is_available() else None

    def measure(say: Callable[[str], None]) -> Found:
        if here is None:
            raise SettingsError("there is no GPU here: run `make test-gpu` where there is one")
        say(f"{len(files)} files on {here}")
        rows, printed = outcomes(files)
        ended = Counter(row["outcome"] for row in rows)
        if not ended["passed"] + ended["failed"]:
            raise DissensusError(f"no test ran: {printed.strip()[-1000:]}")
        findings = [row["test"] for row in rows if row["outcome"] == "failed"]
        about = {
            **{outcome: ended[outcome] for outcome in ("passed", "failed", "skipped")},
            "cuda": torch.version.cuda,
            "findings": findings,
        }
        return Found(rows, about | ({"output": printed[-20_000:]} if findings else {}))

    yield Piece("gpu", "tests", {"files": list(files)}, measure, gpu=here)


def marked_files(root: Path) -> tuple[str, ...]:
    """The files with tests that need a GPU, relative to the checkout ``root``."""
    found = (path for path in root.joinpath("tests").rglob("test_*.py") if MARK in path.read_text("utf-8"))
    return tuple(sorted(path.relative_to(root).as_posix() for path in found))


def outcomes(files: Sequence[str], root: Path = ROOT) -> tuple[list[dict[str, Any]], str]:
    """Run the marked tests of these files in a process of their own; how each ended, and what was printed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        options = ["-m", "gpu", "-p", "no:cacheprovider", "--tb=short", f"--junit-xml={report}"]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *files],
            cwd=root,
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # the same tests wherever they run
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if not report.exists():
            raise DissensusError(f"pytest did not run: {done.stdout.strip()[-1000:]}")
        cases = ElementTree.parse(report).getroot().iter("testcase")
        return [_row(case) for case in cases], done.stdout


def _row(case: ElementTree.Element) -> dict[str, Any]:
    ended = next((ENDINGS[child.tag] for child in case if child.tag in ENDINGS), "passed")
    name = "::".join(part for part in (case.get("classname"), case.get("name")) if part)
    return {"test": name, "outcome": ended, "seconds": float(case.get("time", 0))}


def sentences(records: list[Record]) -> list[str]:
    """How many passed on what, and which did not."""
    said = []
    for record in records:
        about, found = record.about, record.environment
        said.append(
            f"GPU: {about['passed']} tests passed, {about['failed']} failed and {about['skipped']} were "
            f"skipped on {found['gpu']}, torch {found['versions']['torch']}, CUDA {about['cuda']}, in "
            f"{record.seconds['all']:.0f} s."
        )
        said += [f"Failed: {test}" for test in about["findings"]]
        said += about["output"].splitlines() if about["findings"] else []
    return said
