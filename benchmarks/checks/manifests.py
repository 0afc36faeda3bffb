"""The manifests of `examples/scale`, run as far as this machine can: what their tasks make is one process's.

Where there is a Slurm (`sbatch`), it runs the arrays, and one task of each is requeued while it works. Where
there is none, and of the Kubernetes Job in any case, the tasks are run by hand, one after the other, with the
variables that the scheduler would set.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.checks.asked import Asked
from benchmarks.pieces import Found, Piece
from benchmarks.places import ROOT
from benchmarks.records import Record

__all__ = ["pieces", "sentences"]

SCALE = ROOT / "examples/scale"
CHAINS, DRAWS, SHARDS = 2, 10, 3  # draws of a chain, as slurm-fit.sh asks for them
PICTURES, QUICK = 1000, 100
BEFORE = 5.0  # seconds that a task works before it is requeued
COMMAND = '#!/bin/sh\nexec "{python}" -c "from dissensus.cli import app; app()" "$@"\n'


def pieces(asked: Asked) -> Iterator[Piece]:
    """All manifests on one set of pictures."""
    count = QUICK if asked.quick else PICTURES
    settings = {"pictures": count, "chains": CHAINS, "shards": SHARDS}
    yield Piece("manifests", "all", settings, partial(_measured, count))


def sentences(records: list[Record]) -> list[str]:
    """One sentence."""
    return [
        f"Manifests: {', '.join(str(row['manifest']) for row in record.rows)}, run by "
        f"{record.about['slurm'] or 'hand'} ({record.about['requeued']} tasks requeued) and by hand: "
        + ("equal to one process." if all(row["equal"] for row in record.rows) else "DIFFERENT.")
        for record in records
    ]


def _measured(count: int, say: Callable[[str], None]) -> Found:
    with tempfile.TemporaryDirectory() as scratch:
        work = _Work(Path(scratch), say)
        random = np.random.default_rng(0)
        pictures = random.normal(120, 30, (count, 8, 8)) + 9 * np.arange(8)
        for number, picture in enumerate(pictures.clip(0, 255).astype(np.uint8)):
            Image.fromarray(picture).save(work.data / f"{number:04d}.png")
        found = [_fitted(work), _scored(work), _in_pods(work)]
        return Found(found, {"slurm": _slurm(), "requeued": work.requeued})


class _Work:
    """A folder, and how tasks are run in it."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        self.folder, self.say, self.requeued = folder, say, 0
        self.data, self.gate = folder / "data", folder / "gate"
        self.data.mkdir()
        command = folder / "bin/dissensus"
        command.parent.mkdir()
        command.write_text(COMMAND.format(python=sys.executable))
        command.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}"}

    def run(self, *words: object, **variables: str) -> str:
        """What a command prints."""
        done = subprocess.run(
            list(map(str, words)),
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env={**self.environment, **variables},
        )
        return done.stdout

    def run_array(self, tasks: int, script: Path, *words: object) -> None:
        """All tasks of a Slurm array, by Slurm or by hand."""
        self.say(script.name)
        if _slurm() is None:
            for task in range(tasks):
                variables = {"SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_MAX": str(tasks - 1)}
                self.run(script, *words, **variables)
            return
        sbatch = subprocess.Popen(
            ["sbatch", "--wait", "--parsable", f"--array=0-{tasks - 1}", str(script), *map(str, words)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self.environment,
        )
        assert sbatch.stdout is not None
        first = f"{sbatch.stdout.readline().strip()}_0"
        requeued = False
        while sbatch.poll() is None:
            if not requeued and f"{first} R" in self.run("squeue", "--noheader", "--array", "--format=%i %t"):
                time.sleep(BEFORE)
                self.run("scontrol", "requeue", first)
                self.requeued, requeued = self.requeued + 1, True
            time.sleep(0.2)
        sbatch.stdout.close()
        if sbatch.returncode:
            raise RuntimeError(f"{script.name} ended with {sbatch.returncode}")


def _slurm() -> str | None:
    """Which Slurm there is, if any."""
    if shutil.which("sbatch") is None:
        return None
    said = subprocess.run(["sbatch", "--version"], check=True, stdout=subprocess.PIPE, text=True)
    return said.stdout.strip()


def _fitted(work: _Work) -> dict[str, Any]:
    """A chain a task, joined, beside one process with all chains."""
    script, parts = SCALE / "slurm-fit.sh", work.folder / "chains"
    work.run_array(CHAINS, script, work.data, parts)
    work.run("dissensus", "join", *sorted(parts.iterdir()), "-o", work.gate, "--quiet")
    whole = work.folder / "whole"
    all_of_it = ("--chains", CHAINS, "--draws", CHAINS * DRAWS, "--quiet")
    work.say("one process fits")
    work.run("dissensus", "fit", work.data, *all_of_it, "-o", whole)
    names = ("draws.safetensors", "calibration.safetensors")
    equal = all((work.gate / name).read_bytes() == (whole / name).read_bytes() for name in names)
    return {"manifest": script.name, "tasks": CHAINS, "equal": equal}


def _scored(work: _Work) -> dict[str, Any]:
    """A shard a task, merged, beside one process."""
    script, parts = SCALE / "slurm-score.sh", work.folder / "parts"
    work.run_array(SHARDS, script, work.gate, work.data, parts)
    return {"manifest": script.name, "tasks": SHARDS, "equal": _merges(work, sorted(parts.iterdir()))}


def _in_pods(work: _Work) -> dict[str, Any]:
    """A shard a pod, of which there are fewer than the manifest asks for, and whose volume is a folder."""
    import yaml

    manifest = SCALE / "kubernetes-score.yaml"
    job: Mapping[str, Any] = yaml.safe_load(manifest.read_text("utf-8"))["spec"]
    container = job["template"]["spec"]["containers"][0]
    (mount,) = container["volumeMounts"]
    shutil.rmtree(work.folder / "parts")
    (work.folder / "parts").mkdir()
    words = [
        word.replace(f"/{job['completions']}", f"/{SHARDS}").replace(mount["mountPath"], str(work.folder))
        for word in (*container["command"], *container["args"])
    ]
    for pod in range(SHARDS):
        work.say(f"pod {pod} of {SHARDS}")
        work.run(*words, JOB_COMPLETION_INDEX=str(pod))
    parts = sorted((work.folder / "parts").iterdir())
    return {"manifest": manifest.name, "tasks": SHARDS, "equal": _merges(work, parts)}


def _merges(work: _Work, parts: Sequence[Path]) -> bool:
    """Whether the parts are, to the byte, what one process says."""
    whole, merged = work.folder / "whole.csv", work.folder / "merged.csv"
    options = ("--fdr", "0.1", "--quiet")
    if not whole.exists():
        work.say("one process scores")
        score = ("dissensus", "score", work.gate, work.data, "--skip-unreadable", *options)
        work.run(*score, "-o", whole)
    work.run("dissensus", "merge", *parts, *options, "-o", merged)
    return whole.read_bytes() == merged.read_bytes()
