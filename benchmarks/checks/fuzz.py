"""Mutated gates and input files: each ends in a clear error or a correct result, in bounded memory and time.

Cases are numbered and each is a function of its number alone: ``python -m benchmarks.checks.fuzz 4711 1``
repeats one. Every 2,500 run in a process of their own whose address space is limited, so that a crash, a hang
or a case that takes too much memory is seen and does not end the run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial

from benchmarks.checks.asked import Asked
from benchmarks.checks.fuzzing.limits import MEMORY, SECONDS
from benchmarks.checks.fuzzing.tally import Tally
from benchmarks.pieces import Found, Piece
from benchmarks.places import ROOT
from benchmarks.records import Record
from dissensus.persistence.files import FORMAT_VERSION

__all__ = ["pieces", "sentences"]

CASES, QUICK = 10_000, 100
CHUNK = 2500  # cases a process


def pieces(asked: Asked) -> Iterator[Piece]:
    """All cases, of every kind."""
    cases = QUICK if asked.quick else CASES
    limits = {"limit_seconds": SECONDS, "limit_mib_above_start": MEMORY >> 20}
    settings = {"cases": cases, "first": 0, **limits, "gate_format": FORMAT_VERSION}
    yield Piece("fuzz", "mutations", settings, partial(_measured, 0, cases))


def sentences(records: list[Record]) -> list[str]:
    """What was found, in a sentence each."""
    said = []
    for record in records:
        found = {outcome: sum(row[outcome] or 0 for row in record.rows) for outcome in ("error", "result")}
        said.append(
            f"Fuzz: {found['error']} of {record.settings['cases']} cases ended in a clear error and "
            f"{found['result']} in a correct result; {len(record.about['findings'])} findings."
        )
        said += [f"Case {one['case']}, {one['kind']}: {one['found']}" for one in record.about["findings"]]
    return said


def _measured(first: int, cases: int, say: Callable[[str], None]) -> Found:
    tally = Tally()
    for start in range(first, first + cases, CHUNK):
        count = min(CHUNK, first + cases - start)
        call = [sys.executable, "-m", __name__, str(start), str(count)]
        done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=ROOT)
        if done.returncode:
            tally.add_death(start, done.stderr[-2000:] or done.returncode)
        else:
            tally.add(json.loads(done.stdout))
        say(f"{start + count} cases, {len(tally.findings)} findings")
    return Found(tally.rows(), tally.about())


if __name__ == "__main__":
    from benchmarks.checks.fuzzing.running import run_cases

    json.dump(run_cases(int(sys.argv[1]), int(sys.argv[2])), sys.stdout)
