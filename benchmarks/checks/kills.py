"""A scoring by shards whose workers are killed at random, a hundred times: nothing is lost, nothing doubled.

Each worker is forked from this process, so that it starts at once, and killed outright after a time that is
drawn anew, or left to end. Some shards are lost altogether and begun again, some are given to two workers at
once, as a scheduler does with stragglers. A fit is killed in the same way while it decodes and learns.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.checks.asked import Asked
from benchmarks.pieces import Found, Piece
from benchmarks.records import Record
from dissensus import BayesianVAE, Detector
from dissensus.persistence import read_artifact

__all__ = ["pieces", "sentences"]

KILLS, QUICK_KILLS = 80, 4  # of workers that score
MERGE_KILLS, QUICK_MERGE_KILLS = 10, 1
FIT_KILLS, QUICK_FIT_KILLS = 20, 2
SHARDS, ROWS = 8, 4000
IN_USE = 2  # the exit code of a second worker on one shard
CHUNK = 16  # rows that a worker scores at once, so that it can be killed in the middle
STRAGGLERS, LOST = (
    0.2,
    0.1,
)  # the shares of starts that are given to two workers, and whose work is thrown away
FIT: Mapping[str, Any] = {
    "epochs": 8,
    "draws": 4,
    "samples": 2,
    "widths": (4,),
    "latent_size": 2,
    "device": "cpu",
}


def pieces(asked: Asked) -> Iterator[Piece]:
    """Scoring and fitting."""
    kills, fit_kills = (QUICK_KILLS, QUICK_FIT_KILLS) if asked.quick else (KILLS, FIT_KILLS)
    merges = QUICK_MERGE_KILLS if asked.quick else MERGE_KILLS
    settings: dict[str, Any] = {"kills": kills, "merge_kills": merges, "shards": SHARDS, "rows": ROWS}
    settings |= {"stragglers": STRAGGLERS, "lost": LOST}
    yield Piece("kills", "shards", settings, partial(_scoring, kills, merges), seed=0)
    yield Piece("kills", "fits", {"kills": fit_kills, "fit": dict(FIT)}, partial(_fitting, fit_kills), seed=0)


def sentences(records: list[Record]) -> list[str]:
    """One sentence each."""
    said = []
    for record in records:
        about, end = (
            record.about,
            "nothing was lost or doubled" if record.about["equal"] else "THE RESULT DIFFERS",
        )
        if record.name == "shards":
            said.append(
                f"Kills: {about['kills']} killed workers, {about['stragglers']} shards given to two workers, "
                f"{about['lost']} lost ones and {about.get('merge_kills', 0)} killed merges: {end}."
            )
        else:
            said.append(f"Kills: a fit within memory, killed {about['kills']} times: {end}.")
    return said


def _scoring(kills: int, merge_kills: int, say: Callable[[str], None]) -> Found:
    random = np.random.default_rng(0)
    tally = {"kills": 0, "stragglers": 0, "lost": 0, "refused": 0, "merge_kills": 0}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        gate, data = folder / "gate", folder / "rows.npy"
        rows = random.normal(size=(ROWS, 4))
        np.save(data, rows)
        Detector(epochs=3, device="cpu").fit(rows[:500]).save(gate)
        parts = [folder / f"part-{shard}.parquet" for shard in range(SHARDS)]

        def start(shard: int) -> int:
            part = parts[shard]
            return _command("score", gate, data, "-o", part, "--shard", f"{shard}/{SHARDS}", "--quiet")

        began = time.monotonic()
        _ended(start(0))
        usual = time.monotonic() - began
        parts[0].unlink()
        while tally["kills"] < kills or not all(part.exists() for part in parts):
            say(f"{tally['kills']} of {kills} kills")
            waiting = [shard for shard, part in enumerate(parts) if not part.exists()]
            if not waiting or random.uniform() < LOST:
                parts[int(random.integers(SHARDS))].unlink(missing_ok=True)
                tally["lost"] += 1
                continue
            shard = int(random.choice(waiting))
            began, workers = time.monotonic(), [start(shard)]
            if random.uniform() < STRAGGLERS:
                workers.append(start(shard))
                tally["stragglers"] += 1
            for worker in workers:
                wait = random.uniform(0, 1.2 * usual) if tally["kills"] < kills else None
                code = _ended(worker) if wait is None else _killed(worker, wait)
                if code not in (None, 0, IN_USE):
                    raise RuntimeError(f"a worker ended with {code}")
                tally["kills"] += code is None
                tally["refused"] += code == IN_USE
                if code == 0:
                    usual = time.monotonic() - began  # the machine may have become quicker, or slower
        whole, merged = folder / "whole.csv", folder / "merged.csv"
        merge = ("merge", *parts, "-o", merged, "--fdr", "0.1", "--quiet")
        began = time.monotonic()
        for command in (("score", gate, data, "-o", whole, "--fdr", "0.1", "--quiet"), merge):
            began = time.monotonic()
            if _ended(_command(*command)):
                raise RuntimeError(f"{command[0]} failed")
        usual = time.monotonic() - began
        while tally["merge_kills"] < merge_kills:
            say(f"{tally['merge_kills']} of {merge_kills} merges")
            merged.unlink(missing_ok=True)
            tally["merge_kills"] += _killed(_command(*merge), random.uniform(0, usual)) is None
            if merged.exists() and merged.read_bytes() != whole.read_bytes():
                raise RuntimeError("a merge that was killed left half of its rows")
        if _ended(_command(*merge)):
            raise RuntimeError("merge failed")
        left = sorted(path.name for path in folder.iterdir() if path.name.startswith("."))
        return Found([], {**tally, "left_behind": left, "equal": whole.read_bytes() == merged.read_bytes()})


def _fitting(kills: int, say: Callable[[str], None]) -> Found:
    from PIL import Image

    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        pictures = folder / "pictures"
        pictures.mkdir()
        for number in range(300):
            wave = 100 + 80 * np.sin(np.arange(12) / 3 + random.uniform(0, 3))
            Image.fromarray((wave + random.integers(0, 40, (12, 12))).astype(np.uint8)).save(
                pictures / f"{number:03d}.png"
            )

        def fit(name: str) -> None:
            from dissensus.inputs import caching

            caching.CHUNK = 2000
            gate = BayesianVAE(**FIT).fit(pictures, memory="64 GB", checkpoint=folder / name)
            gate.save(folder / f"{name}.gate")

        began = time.monotonic()
        _ended(_forked(lambda: fit("whole")))
        usual, killed = time.monotonic() - began, 0
        while not (folder / "killed.gate").exists() or killed < kills:
            say(f"{killed} of {kills} kills")
            if (folder / "killed.gate").exists():  # it was faster than we: once more, from nothing
                shutil.rmtree(folder / "killed.gate")
                shutil.rmtree(folder / "killed")
            worker = _forked(lambda: fit("killed"))
            if killed == kills:
                _ended(worker)
            elif _killed(worker, random.uniform(0, 0.7 * usual)) is None:
                killed += 1
        ours, theirs = (read_artifact(folder / f"{name}.gate") for name in ("killed", "whole"))
        equal = ours.config == theirs.config and all(
            np.array_equal(ours.calibration[name], array) for name, array in theirs.calibration.items()
        )
        return Found([], {"kills": killed, "equal": equal})


def _command(*arguments: object) -> int:
    """A process that runs a command line, a few rows at a time."""

    def run() -> None:
        import dissensus.detector.inputs as inputs
        from dissensus.cli import app

        inputs.CHUNK_ROWS = CHUNK
        app([str(argument) for argument in arguments])

    return _forked(run)


def _forked(work: Callable[[], Any]) -> int:
    """The number of a process of its own that does the work; it ends with the work's exit code."""
    torch.set_num_threads(1)
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    code = 3
    try:
        with open(os.devnull, "w") as nowhere:  # noqa: PTH123
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        work()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    finally:
        os._exit(code)


def _killed(child: int, after: float) -> int | None:
    """Kill a process outright after so many seconds; its exit code if it had ended by itself."""
    deadline = time.monotonic() + after
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    code = _ended(child)
    return None if code == -signal.SIGKILL else code


def _ended(child: int) -> int:
    """The exit code of a process, once it has ended."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
