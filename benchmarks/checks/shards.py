"""What dividing a scoring costs: a million rows by one process, and by shards that are merged.

The shards are run one after the other, on the same cores as the one process, so that what they take together
is what dividing adds: starting, reading the gate, writing parts, merging them. Processor time is what other
programs on the machine change least.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from os import wait4
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.checks.asked import Asked
from benchmarks.pieces import Found, Piece
from benchmarks.records import Record
from dissensus import Detector
from dissensus.destination import Destination
from dissensus.inputs import Shard
from dissensus.outputs import PartLabel, writer_of

__all__ = ["pieces", "sentences"]

GATE: Mapping[str, Any] = {"epochs": 5, "device": "cpu"}
COLUMNS, FITTED = 8, 5000
ROWS, QUICK, SHARDS = 1_000_000, 20_000, 2  # a shard for each of two cores
MERGED, PARTS, CALIBRATION = (1_000_000, 20_000_000), 4, 9999
AT_ONCE = 1 << 16  # rows that are made up together
OPTIONS = ("--fdr", "0.1")
COMMAND = """
import sys
from dissensus.cli import app
try:
    app(sys.argv[1:])
finally:
    status = open("/proc/self/status").read().splitlines()
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


def pieces(asked: Asked) -> Iterator[Piece]:
    """Dividing and merging a scoring; and merging alone, of made-up parts that nobody has to score."""
    rows = QUICK if asked.quick else ROWS
    settings = {"rows": rows, "shards": SHARDS, "columns": COLUMNS, "gate": dict(GATE)}
    yield Piece("shards", "rows", settings, partial(_measured, rows))
    sizes = [QUICK] if asked.quick else list(MERGED)
    yield Piece("shards", "merging", {"rows": sizes, "made_up_parts": PARTS}, partial(_merging, sizes))


def sentences(records: list[Record]) -> list[str]:
    """One sentence each."""
    return [_of_merging(record) if record.name == "merging" else _of_dividing(record) for record in records]


def _of_merging(record: Record) -> str:
    found = [
        f"{row['rows'] / row['cpu_seconds']:,.0f} a second with at most {row['peak_megabytes']:.0f} MB "
        f"({row['rows']:,} rows to {row['format']})"
        for row in record.rows
    ]
    return f"Merging, in one process: {'; '.join(found)}."


def _of_dividing(record: Record) -> str:
    return (
        f"Shards: {record.settings['rows']} rows took {record.about['whole_cpu_seconds']:.0f} s of processor "
        f"time in one process, and {record.about['overhead_cpu']:+.1%} in {record.settings['shards']} shards "
        f"with their merge ({record.about['overhead_wall']:+.1%} by the clock); the results are "
        + ("equal to the byte." if record.about["equal"] else "NOT EQUAL.")
    )


def _measured(rows: int, say: Callable[[str], None]) -> Found:
    random = np.random.default_rng(0)
    mixing = random.normal(size=(COLUMNS, COLUMNS))
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        say("fitting")
        Detector(**GATE).fit(random.normal(size=(FITTED, COLUMNS)) @ mixing).save(folder / "gate")
        data = np.lib.format.open_memmap(folder / "rows.npy", "w+", np.float64, (rows, COLUMNS))
        data[:] = random.normal(size=(rows, COLUMNS)) @ mixing
        data.flush()
        score = ("score", folder / "gate", folder / "rows.npy", "--quiet")
        say("one process")
        found.append({"run": "whole", **_run(*score, "-o", folder / "whole.csv", *OPTIONS)})
        parts = [folder / f"part-{shard}.parquet" for shard in range(SHARDS)]
        for shard, part in enumerate(parts):
            say(f"shard {shard} of {SHARDS}")
            took = _run(*score, "-o", part, "--shard", f"{shard}/{SHARDS}")
            found.append({"run": f"shard {shard}", **took})
        say("merging")
        found.append(
            {"run": "merge", **_run("merge", *parts, "-o", folder / "merged.csv", *OPTIONS, "--quiet")}
        )
        equal = (folder / "whole.csv").read_bytes() == (folder / "merged.csv").read_bytes()
    whole, *divided = found
    return Found(
        found,
        {
            "equal": equal,
            "whole_cpu_seconds": whole["cpu_seconds"],
            "overhead_cpu": sum(each["cpu_seconds"] for each in divided) / whole["cpu_seconds"] - 1,
            "overhead_wall": sum(each["seconds"] for each in divided) / whole["seconds"] - 1,
            "merge_seconds": divided[-1]["seconds"],
        },
    )


def _merging(sizes: Sequence[int], say: Callable[[str], None]) -> Found:
    found = []
    for rows in sizes:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            say(f"{rows:,} rows are made up")
            parts = [folder / f"part-{shard}.parquet" for shard in range(PARTS)]
            for shard, part in enumerate(parts):
                _write_made_up(part, Shard(shard, PARTS), rows)
            for format in ("parquet", "csv"):
                say(f"{rows:,} rows to {format}")
                took = _run("merge", *parts, "-o", folder / f"all.{format}", *OPTIONS, "--quiet")
                found.append({"rows": rows, "format": format, **took})
    return Found(found)


def _write_made_up(path: Path, shard: Shard, rows: int) -> None:
    """A part with scores and p-values by chance."""
    import pyarrow

    random = np.random.default_rng(shard.number)
    columns = ["input", "score", "p_value", "flagged"]
    label = PartLabel(
        shard=shard.number,
        shards=shard.count,
        inputs=rows,
        gate="made up",
        listing="made up",
        options={},
        columns=columns,
        statistic="fused",
        false_alarm_rate=0.05,
        threshold=1.0,
        calibration_inputs=CALIBRATION,
    )
    own = shard.of(rows)
    with writer_of(Destination(path), "parquet", columns, label=label) as writer:
        for start in range(own.start, own.stop, AT_ONCE):
            inputs = range(start, min(start + AT_ONCE, own.stop))
            p_values = random.integers(1, CALIBRATION + 2, len(inputs)) / (CALIBRATION + 1)
            writer.write_table(
                pyarrow.table(
                    {
                        "input": list(map(str, inputs)),
                        "score": random.normal(size=len(inputs)),
                        "p_value": p_values,
                        "flagged": p_values <= 0.05,
                        "numbered": np.ones(len(inputs), bool),
                    }
                )
            )


def _run(*arguments: object) -> dict[str, float]:
    """Seconds of one command in a process of its own, by the clock and of all cores, and its peak memory."""
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    peak = process.stdout.read()  # the system's own count would begin with what this process takes
    _, status, used = wait4(process.pid, 0)
    process.stdout.close()
    if status:
        raise RuntimeError(f"{arguments[0]} ended with {status}")
    return {
        "seconds": time.monotonic() - began,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "peak_megabytes": int(peak) * 1024 / 1e6,
    }
