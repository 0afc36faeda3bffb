"""The command: cases in processes of their own, and the record of what they found."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from fuzzing.record import Tally, write
from fuzzing.running import run_cases

__all__ = ["main"]

CHUNK = 2500  # cases a process


def main(description: str | None, entry: str) -> int:
    """Runs the cases in processes of their own, each started at the file ``entry``, and writes the record."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        json.dump(run_cases(arguments.first, arguments.cases), sys.stdout)
        return 0
    tally = Tally()
    for first in range(arguments.first, arguments.first + arguments.cases, CHUNK):
        count = min(CHUNK, arguments.first + arguments.cases - first)
        command = [sys.executable, entry, "--inside", "--first", str(first), "--cases", str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            tally.add_death(first, done.stderr[-2000:] or done.returncode)
            continue
        part = json.loads(done.stdout)
        tally.add(part)
        sys.stderr.write("".join(f"{json.dumps(finding)}\n" for finding in part["findings"]))
        sys.stderr.write(f"{first + count} cases, {len(tally.findings)} findings\n")
    write(tally.record(arguments.first, arguments.cases), arguments.output)
    return 1 if tally.findings else 0
