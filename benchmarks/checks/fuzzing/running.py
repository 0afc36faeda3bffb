"""Running cases in this process."""

from __future__ import annotations

import hashlib
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.checks.fuzzing.kinds import KINDS, ORDER
from benchmarks.checks.fuzzing.limits import MEMORY, SECONDS, Hang, limit_memory, peak_memory, time_limit
from benchmarks.checks.fuzzing.originals import Originals

__all__ = ["run_case", "run_cases", "tree"]


def run_case(originals: Originals, number: int, folder: Path) -> tuple[str, str]:
    """Kind and outcome of one case; raises :class:`WrongError` or anything else if it is a finding."""
    kind = ORDER[number % len(ORDER)]
    with tempfile.TemporaryDirectory(dir=folder) as work, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind, KINDS[kind][1](originals, np.random.default_rng(number), Path(work))


def run_cases(first: int, count: int, *, limited: bool = True) -> dict[str, Any]:
    """Outcomes of some cases, in this process."""
    import torch

    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        kept, work = Path(scratch, "kept"), Path(scratch, "work")
        kept.mkdir()
        work.mkdir()
        originals = Originals(kept)
        run_case(originals, 20, work)  # what is imported late is not a case's doing
        before, base = tree(kept), peak_memory()
        if limited:
            limit_memory(MEMORY)
        outcomes: Counter[str] = Counter()
        findings: list[dict[str, Any]] = []
        slowest = 0.0
        for number in range(first, first + count):
            start = time.perf_counter()
            try:
                with time_limit(SECONDS):
                    kind, outcome = run_case(originals, number, work)
                outcomes[f"{kind}: {outcome}"] += 1
            except (Exception, Hang) as error:
                findings.append({"case": number, "kind": ORDER[number % len(ORDER)], "found": repr(error)})
            slowest = max(slowest, time.perf_counter() - start)
        if tree(kept) != before:
            findings.append({"case": first, "kind": "all", "found": "an existing file was touched"})
        return {
            "outcomes": dict(outcomes),
            "findings": findings,
            "slowest_case_s": slowest,
            "peak_memory_above_start_MiB": (peak_memory() - base) / 2**20,
        }


def tree(folder: Path) -> dict[str, str]:
    """Digest by file, to tell whether anything was touched."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
