"""Numbers of speed that documents name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.filling.registry import Number, Table
from benchmarks.records import Record, Records
from benchmarks.speed.table import markdown

__all__ = ["NUMBERS", "TABLES"]

PLAIN, GOAL = "straightforward PyTorch", "goal"
EPOCH, STEP = "training with all that an epoch brings: ", "training step of a chain: "
DENSE, NLL = "training, dense VAE, batch 256, ", "likelihoods, dense VAE, one draw, K = "

COMPARED: Mapping[str, tuple[str, str, str, str]] = {
    "cuda.step": ("cuda", "training", f"{STEP}the paper's conv VAE, batch 256, 8 chains", PLAIN),
    "cuda.decodings": ("cuda", "decoding", "decodings a second, conv VAE, K = 32", PLAIN),
    "cuda.compiled": ("cuda", "decoding", "decodings a second, conv VAE, K = 32, compiled", PLAIN),
    "cuda.table-row": (
        "cuda",
        "table-row",
        "table 1, fashion-mnist-vs-mnist, all six methods, one seed",
        GOAL,
    ),
    **{
        f"cuda.end-to-end.{effort}": (
            "cuda",
            "end-to-end",
            f"pictures from the host's memory to verdicts, {effort}",
            GOAL,
        )
        for effort in ("fast", "standard")
    },
    "cuda.whole-table": ("cuda", "whole-table", "the whole of table 1, both presets, one seed", GOAL),
    "cpu.paper-network.1": ("cpu", "training", f"{EPOCH}the paper's conv VAE, batch 256, 1 chain", PLAIN),
    "cpu.paper-network.2": ("cpu", "training", f"{EPOCH}the paper's conv VAE, batch 256, 2 chains", PLAIN),
    "cpu.default-network.1": ("cpu", "training", f"{EPOCH}the default conv VAE, batch 256, 1 chain", PLAIN),
    "cpu.default-network.2": ("cpu", "training", f"{EPOCH}the default conv VAE, batch 256, 2 chains", PLAIN),
    "cpu.bound.step": (
        "cpu",
        "training-bound",
        "training step: the default conv VAE, batch 256, 1 chain",
        PLAIN,
    ),
    "cpu.bound.layers": (
        "cpu",
        "training-bound",
        "its layers and nothing else: the default conv VAE, batch 256, 1 chain",
        PLAIN,
    ),
    "cpu.adam.pyod": ("cpu", "rivals", f"{DENSE}by Adam", "PyOD's VAE"),
    "cpu.adam.pythae": ("cpu", "rivals", f"{DENSE}by Adam", "pythae's VAE"),
    "cpu.sampled.1": ("cpu", "rivals", f"{DENSE}1 chain", "PyOD's VAE"),
    "cpu.sampled.2": ("cpu", "rivals", f"{DENSE}2 chains", "PyOD's VAE"),
    "cpu.decodings": ("cpu", "decoding", "decodings a second, conv VAE, K = 16", PLAIN),
    "cpu.batch": ("cpu", "single", "a batch of 128 images, thorough", PLAIN),
    "cpu.one-image": ("cpu", "single", "one image, thorough, loaded", GOAL),
    **{
        f"cpu.{effort}.{short}": ("cpu", "efforts", f"{what}, {effort}", "commit 0313e6b")
        for effort in ("fast", "standard", "thorough")
        for short, what in (
            ("batch", "128 pictures of 28×28"),
            ("one", "one picture of 28×28"),
            ("batch-32", "64 pictures of 32×32×3"),
            ("batch-64", "16 pictures of 64×64×3"),
            ("one-64", "one picture of 64×64×3"),
        )
    },
    **{
        f"cpu.sizes.{side}.{short}{suffix}": (
            "cpu",
            "sizes",
            f"{count} of {shape}, standard{told}",
            "commit 0313e6b",
        )
        for side, shape, batch in ((28, "28×28", 128), (64, "64×64×3", 8), (128, "128×128×3", 4))
        for short, count in (("batch", f"{batch} pictures"), ("one", "one picture"))
        for suffix, told in (("", ""), (".processor", ", of processor time"))
    },
    "cpu.rows.fit": ("cpu", "rows", "fit of 5,000 × 20 rows by Detector()", GOAL),
    "cpu.rows.score": (
        "cpu",
        "rows",
        "scores of 100,000 × 20 rows by Detector()",
        "5th nearest row (scikit-learn)",
    ),
    "cpu.import": ("cpu", "startup", "import dissensus, over import torch", GOAL),
    "cpu.help": ("cpu", "startup", "dissensus --help", GOAL),
    **{f"cpu.nll.{K}": ("cpu", "rivals", f"{NLL}{K}", "pythae's get_nll") for K in (8, 16, 32)},
    **{
        f"cpu.nll-of-no-more.{K}": ("cpu", "rivals", f"{NLL}{K}", f"pythae's get_nll, batch_size={K}")
        for K in (8, 16, 32)
    },
}
"""A line of the table by device, part, what was measured and what it was compared with."""
SIDES = ("ours", "other", "ratio")
DEVICES = ("cpu", "cuda")


def _record(results: Path, device: str, part: str) -> Record:
    return next(record for record in Records(results / "speed").read(device) if record.name == part)


def _compared(results: Path, *, device: str, part: str, name: str, other: str, side: str) -> float:
    rows = _record(results, device, part).rows
    return float(next(row for row in rows if (row["name"], row["other_name"]) == (name, other))[side])


def _about(results: Path, *, device: str, part: str, tell: Callable[[Mapping[str, Any]], float]) -> float:
    return tell(_record(results, device, part).about)


def _load(about: Mapping[str, Any]) -> float:
    return float(about["load_average"][1])


def _warm_up(about: Mapping[str, Any]) -> float:
    return float(about["compiler"]["warm_up_seconds"])


def _share(effort: str, part: str, about: Mapping[str, Any]) -> float:
    """Seconds that a part of the work took for all pictures."""
    return float(about["seconds"][effort][part])


def _two_cores(results: Path, name: str) -> float:
    """What two cores would do a second that nobody else wants."""
    return 2 * NUMBERS[name](results)


def _slope(axis: str, about: Mapping[str, Any]) -> float:
    return float(about["axes"][axis]["time_slope"])


def _bytes_an_input(about: Mapping[str, Any]) -> float:
    first, *_, last = about["axes"]["N"]["points"]
    return float((last["peak_bytes"] - first["peak_bytes"]) / (last["N"] - first["N"]))


def _largest_difference(about: Mapping[str, Any]) -> float:
    return max(float(one["largest_difference"]) for one in about["differences"] if one["path"] == "default")


def _decoder_alone(K: int, about: Mapping[str, Any]) -> float:
    return next(float(one["images_per_second"]) for one in about["decoder_alone"] if one["samples"] == K)


def _same_bits(kind: str, column: str, about: Mapping[str, Any]) -> float:
    return next(float(one[column]) for one in about["measured"] if one["input"] == kind)


def _together(about: Mapping[str, Any]) -> float:
    """The share of time that eight chains save over twice four."""
    four, eight = (
        next(float(one["epoch_seconds"]) for one in about["chains"] if one["chains"] == chains)
        for chains in (4, 8)
    )
    return 1 - eight / (2 * four)


def _same_steps(about: Mapping[str, Any]) -> float:
    """Over how many steps every trajectory was the plain loop's to the bit."""
    by_steps: dict[int, list[float]] = {}
    for one in about["trajectories"]:
        by_steps.setdefault(one["steps"], []).append(one["largest_relative_distance"])
    return max(steps for steps, distances in by_steps.items() if not any(distances))


def _table(results: Path) -> str:
    return markdown([record for _, record in Records(results / "speed").all()])


NUMBERS: Mapping[str, Number] = {
    **{
        f"{name}.{side}": partial(_compared, device=device, part=part, name=what, other=other, side=side)
        for name, (device, part, what, other) in COMPARED.items()
        for side in SIDES
    },
    **{
        f"{device}.slope.{axis}": partial(_about, device=device, part="growth", tell=partial(_slope, axis))
        for device in DEVICES
        for axis in "NMK"
    },
    **{
        f"{device}.largest-difference": partial(
            _about, device=device, part="accuracy", tell=_largest_difference
        )
        for device in DEVICES
    },
    "cuda.end-to-end.warm-up": partial(_about, device="cuda", part="end-to-end", tell=_warm_up),
    **{
        f"cuda.end-to-end.{effort}.{short}": partial(
            _about, device="cuda", part="end-to-end", tell=partial(_share, effort, part)
        )
        for effort in ("fast", "standard")
        for short, part in (("draws", "draws"), ("without", "without a model"), ("score", "score"))
    },
    "cpu.efforts.load": partial(_about, device="cpu", part="efforts", tell=_load),
    "cpu.sizes.load": partial(_about, device="cpu", part="sizes", tell=_load),
    **{
        f"cpu.sizes.{side}.two-cores": partial(_two_cores, name=f"cpu.sizes.{side}.batch.processor.ours")
        for side in (28, 64, 128)
    },
    "cuda.bytes-an-input": partial(_about, device="cuda", part="growth", tell=_bytes_an_input),
    **{
        f"cpu.decoder-alone.{K}": partial(
            _about, device="cpu", part="rivals", tell=partial(_decoder_alone, K)
        )
        for K in (16, 32)
    },
    **{
        f"cpu.{name}.{kind}": partial(
            _about, device="cpu", part="same-bits", tell=partial(_same_bits, kind, column)
        )
        for name, column in (("padded", "padded_over_unpadded"), ("one-a-call", "one_a_call_over_tiles"))
        for kind in ("row", "picture")
    },
    "cuda.trajectory.steps": partial(_about, device="cuda", part="trajectory", tell=_same_steps),
    "cuda.together": partial(_about, device="cuda", part="training", tell=_together),
    "cuda.whole-table.minutes": lambda results: NUMBERS["cuda.whole-table.ours"](results) / 60,
    "cuda.decodings.millions": lambda results: NUMBERS["cuda.decodings.ours"](results) / 1e6,
    "cuda.compiled.millions": lambda results: NUMBERS["cuda.compiled.ours"](results) / 1e6,
    "cuda.decodings.other-millions": lambda results: NUMBERS["cuda.decodings.other"](results) / 1e6,
}
TABLES: Mapping[str, Table] = {"all": _table}
