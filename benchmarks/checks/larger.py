"""A fit of pictures that are four times the memory it may take, and what fitting by blocks costs and changes.

The networks are deliberately tiny where time and memory are measured: it is the way of the data that counts.
What shuffling by blocks changes is measured by the validation log-likelihood, on clothes that lie class by
class, the worst order for it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import torch

from benchmarks.checks.asked import Asked
from benchmarks.pieces import Found, Piece
from benchmarks.records import Record
from dissensus import build_vae, load_sample
from dissensus.models.inputs import to_tensor
from dissensus.posterior import BlockData, posterior_settings, sample_posterior
from dissensus.seeding import torch_stream

__all__ = ["pieces", "sentences"]

SIDE, TIMES = 128, 4
TINY: Mapping[str, Any] = {
    "latent_size": 2,
    "widths": (2,),
    "chains": 1,
    "draws": 1,
    "samples": 1,
    "epochs": 1,
    "batch_size": 32,
    "statistic": "mean-ll",
    "neighbours": False,
    "examples": 0,
    "device": "cpu",
}
MEMORY, QUICK_MEMORY = 700_000_000, 700_000_000
FITTING, QUICK_FITTING = 8_000, 600
SHARES = (1.0, 1 / 4, 1 / 16)  # of the training inputs that are in memory at once
LEARNING: Mapping[str, Any] = {"epochs": 8, "draws": 3, "chains": 1, "batch_size": 64, "variant": 1}
BLOCKS = 32

FIT = """
import json, sys, time
from dissensus import BayesianVAE
settings, data, memory = json.loads(sys.argv[1])
began = time.monotonic()
gate = BayesianVAE(**settings).fit(data, **({} if memory is None else {"memory": memory}))
seconds, cpu_seconds = time.monotonic() - began, time.process_time()
status = open("/proc/self/status").read().splitlines()
peak = next(line.split()[1] for line in status if line.startswith("VmHWM"))
took = {"seconds": seconds, "cpu_seconds": cpu_seconds, "peak_megabytes": int(peak) * 1024 / 1e6}
print(json.dumps({**took, **gate.fitted_rows_}))
"""


def pieces(asked: Asked) -> Iterator[Piece]:
    """Memory, time, and what the order changes."""
    quick = asked.quick
    memory = QUICK_MEMORY if quick else MEMORY
    count = FITTING // 10 if quick else TIMES * memory // SIDE**2
    beyond = {"pictures": count, "side": SIDE, "memory": memory, "fit": dict(TINY)}
    yield Piece("larger", "beyond memory", beyond, partial(_beyond, count, memory))
    fitting = QUICK_FITTING if quick else FITTING
    within = {"pictures": fitting, "side": SIDE, "memory": memory, "fit": dict(TINY)}
    yield Piece("larger", "within memory", within, partial(_within, fitting, memory))
    for seed in asked.seeds:
        order = {"shares": list(SHARES), "learning": dict(LEARNING), "blocks": BLOCKS, "quick": quick}
        yield Piece("larger", "order", order, partial(_order, seed, quick=quick), seed)


def sentences(records: list[Record]) -> list[str]:
    """A sentence for each question."""
    said = []
    for record in records:
        rows = {row.get("run"): row for row in record.rows}
        if record.name == "beyond memory":
            row = rows["by blocks"]
            said.append(
                f"Larger than memory: {record.settings['pictures']} pictures of {SIDE}×{SIDE} "
                f"({record.about['input_megabytes']:.0f} MB) were fitted in {row['seconds']:.0f} s with at "
                f"most {row['peak_megabytes']:.0f} MB, of {record.settings['memory'] / 1e6:.0f} MB allowed."
            )
        elif record.name == "within memory":
            on_disk, blocks = (
                rows[run]["seconds"] / rows["in memory"]["seconds"] for run in ("on disk", "by blocks")
            )
            said.append(
                f"What fits: the same fit took {on_disk:.2f} times as long from a disk with memory enough, "
                f"and {blocks:.2f} times by blocks."
            )
    order = [row for record in records if record.name == "order" for row in record.rows]
    for share in sorted({row["share"] for row in order}, reverse=True):
        found = [row["validation_log_likelihood"] for row in order if row["share"] == share]
        said.append(
            f"Order: with {share:.4g} of the inputs in memory the validation log-likelihood is "
            f"{fmean(found):.2f}."
        )
    return said


def _write(path: Path, count: int) -> None:
    """Pictures with structure and noise, a run at a time."""
    random = np.random.default_rng(0)
    pictures = np.lib.format.open_memmap(path, "w+", np.uint8, (count, SIDE, SIDE))
    wave = np.sin(np.arange(SIDE) / 6)
    for start in range(0, count, 1000):
        size = min(1000, count - start)
        shift = random.uniform(0, 100, (size, 1, 1))
        noise = random.integers(0, 30, (size, SIDE, SIDE), np.uint8)
        pictures[start : start + size] = (100 + 60 * wave + shift).astype(np.uint8) // 2 + noise
    pictures.flush()


def _fit(data: Path, memory: int | None) -> dict[str, Any]:
    """In a process of its own, whose peak is the system's own count of resident memory."""
    asked = json.dumps([{**TINY}, str(data), memory])
    done = subprocess.run([sys.executable, "-c", FIT, asked], check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _beyond(count: int, memory: int, say: Callable[[str], None]) -> Found:
    with tempfile.TemporaryDirectory() as scratch:
        data = Path(scratch, "pictures.npy")
        say("writing")
        _write(data, count)
        say("fitting")
        row = {"run": "by blocks", **_fit(data, memory)}
        return Found(
            [row],
            {"input_megabytes": data.stat().st_size / 1e6, "kept": row["peak_megabytes"] * 1e6 <= memory},
        )


def _within(count: int, memory: int, say: Callable[[str], None]) -> Found:
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        data = Path(scratch, "pictures.npy")
        _write(data, count)
        for run, allowed in (("in memory", None), ("on disk", 10**11), ("by blocks", memory)):
            say(run)
            rows.append(
                {"run": run, **min((_fit(data, allowed) for _ in range(2)), key=lambda row: row["seconds"])}
            )
    return Found(rows)


def _order(seed: int, say: Callable[[str], None], *, quick: bool) -> Found:
    known = load_sample()[0]
    by_class = np.argsort(known.labels, kind="stable")
    chosen = np.random.default_rng(seed).permutation(len(by_class))
    held_out = to_tensor(known.images[by_class[np.sort(chosen[:512])]])
    train = to_tensor(known.images[by_class[np.sort(chosen[512:])]])
    if quick:
        train = train[::8]
    rows = []
    for share in SHARES:
        say(f"{share:.4g} of the inputs in memory")
        model = build_vae(
            (1, 28, 28), latent_size=10, widths=(8, 16), generator=torch_stream(seed, "architecture")
        )
        settings = posterior_settings("sghmc", **LEARNING)
        window = max(1, int(share * len(train)) // settings.batch_size) * settings.batch_size
        data: torch.Tensor | BlockData = train
        if share < 1:
            data = BlockData(
                lambda start, stop: train[start:stop],
                tuple(train.shape),
                max(1, window // BLOCKS),
                window,
                "sample",
                torch.device("cpu"),
            )
        draws = sample_posterior(model, data, settings, seed=seed, held_out=held_out)
        kept = [report for report in draws.diagnostics.reports if settings.keeps(report.epoch)]
        rows.append(
            {
                "share": share,
                "window": window,
                "validation_log_likelihood": fmean(r.held_out_log_likelihood or 0.0 for r in kept),
                "seconds": sum(r.seconds for r in draws.diagnostics.reports),
            }
        )
    return Found(rows)
