"""What makes all records, in order: a line a part, each at most ten minutes on an H200 or on two cores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["PARTS", "Part"]


@dataclass(frozen=True)
class Part:
    """One call of ``python -m benchmarks``, which skips what it finds measured."""

    call: str
    minutes: float
    """An estimate, for want of records."""
    records: str = ""
    """Whose seconds say how long it takes: ``FOLDER/GROUP:NAME,NAME`` or ``FOLDER/GROUP:NAME@SEED,…``, with
    wildcards as in a shell; several are separated by blanks."""


_ALL_SEEDS = ("sghmc",)
_FIRST = ("cyclical-sghmc", "sgld", "ensemble")
_SECOND = ("sghmc-variant-2", "swag", "variational")


def _panel(
    inliers: str, posteriors: tuple[str, ...], minutes: float, seeds: str = "0", *, alone: bool = True
) -> Part:
    call = f"panel --device cuda --inliers {inliers} --seeds {seeds}"
    names = ",".join(f"{name}@{seed}" for name in posteriors for seed in seeds.split(","))
    group = inliers + "-*" if inliers.endswith("heldout") else inliers
    return Part(
        " ".join([call, *(f"--posterior {name}" for name in posteriors)]),
        minutes,
        f"panel/{group}:{names}" if alone else "",
    )


def _speed(device: str, minutes: float, *parts: str) -> Part:
    call = " ".join([f"speed --device {device}", *(f"--only {part}" for part in parts)])
    return Part(call, minutes, f"speed/{device}:{','.join(parts)}")


def _tables(minutes: float, *detectors: str, options: str) -> Part:
    """Without records to say how long it takes: theirs are seconds of one core, of which two work at once."""
    return Part(
        " ".join([f"tables --workers 2 {options}", *(f"--only {name}" for name in detectors)]), minutes
    )


_SIMPLE = ("knn", "lof", "isolation-forest", "one-class-svm", "pca", "gaussian-mixture", "ecod")


PARTS: Mapping[str, tuple[Part, ...]] = {
    "gpu": (
        Part("checks --only gpu", 2, "checks/gpu:*"),
        _speed("cuda", 5, "training", "decoding", "growth", "accuracy", "trajectory", "table-row"),
        _speed("cuda", 3, "end-to-end"),
        _speed("cuda", 6, "whole-table"),
        *(Part(f"paper --device cuda --seeds {n}", 10, "speed/cuda:whole-table") for n in (0, 1, 2)),
        # Their records share trainings, whose seconds each of them has.
        Part("paper --device cuda --clusters", 8),
        Part("paper --device cuda --ratio --seeds 0,1,2", 6),
        *(
            Part(
                "paper --device cuda --benchmark fashion-mnist-heldout --preset chosen-on-clusters "
                f"--method {method} --seeds {n}",
                6,
                f"paper/fashion-mnist-heldout-*:chosen-on-clusters/{method}@{n}",
            )
            for n in (0, 1, 2)
            for method in ("BVAE1", "BVAE2")
        ),
        *(
            Part(
                f"paper --device cuda --latent --preset {preset} --seeds {n}",
                5,
                f"paper/latent:{preset}*@{n}",
            )
            for preset in ("settled", "as-published")
            for n in (0, 1, 2)
        ),
        Part("latent --device cuda --only timing", 1, "latent/timing:cuda"),
        *(
            Part(f"latent --device cuda --only acquire --seeds {n}", 7, f"latent/acquire:*@{n}")
            for n in (0, 1, 2)
        ),
        # Judged by RDKit; with draws of one chain beside.
        *(
            Part(
                f"latent --device cuda --only molecules --posterior {posterior} --seeds {n}",
                8,
                f"latent/molecules:{posterior}@{n}",
            )
            for n in (0, 1, 2)
            for posterior in ("shared-encoder", "one-chain")
        ),
        # Their records were made beside twenty other processes, and their seconds say nothing.
        _panel("fashion-mnist", _ALL_SEEDS, 2, seeds="0,1,2", alone=False),
        _panel("mnist", _ALL_SEEDS, 2, seeds="0,1,2", alone=False),
        _panel("svhn", _ALL_SEEDS, 4, seeds="0,1,2", alone=False),
        _panel("cifar10", _ALL_SEEDS, 3, seeds="0,1,2", alone=False),
        _panel("fashion-mnist-heldout", _ALL_SEEDS, 5, seeds="0,1,2", alone=False),
        _panel("fashion-mnist", _FIRST, 3),
        _panel("fashion-mnist", _SECOND, 6),
        _panel("mnist", (*_FIRST, *_SECOND), 3),
        _panel("svhn", _FIRST, 4),
        _panel("svhn", _SECOND, 7),
        _panel("cifar10", _FIRST, 4),
        _panel("cifar10", _SECOND, 5),
        _panel("fashion-mnist-heldout", _FIRST, 6),
        _panel("fashion-mnist-heldout", _SECOND, 7),
        Part("checks --only colour_fit", 6, "checks/colour_fit:*"),
        # Two sets and, of the test, three seeds; what it leaves of the pictures alone takes no GPU.
        *(
            Part(f"densities --device cuda --only {density}{more}", minutes * times)
            for more, times in ((" --select", 1), (" --seeds 0,1,2", 3))
            for density, minutes in (("small-vae", 1), ("deep-vae", 2), ("autoregressive", 3), ("flow", 1))
        ),
        Part(
            "panel --device cuda --select",
            7,
            "panel/selection-fashion-mnist:sghmc@0 panel/selection-mnist:sghmc@0 "
            "panel/selection-svhn:sghmc@0 panel/selection-cifar10:sghmc@0",
        ),
        Part("panel --device cuda --select --inliers clusters --posterior sghmc", 6),
        Part("panel --device cuda --ablate", 10),  # its records share runs, whose seconds each of them has
    ),
    "cpu": (
        _speed("cpu", 6, "training", "decoding", "accuracy", "trajectory"),
        _speed("cpu", 7, "single", "growth", "rivals", "rows", "startup", "beside-others", "same-bits"),
        # Their records were made beside other work, and their seconds say nothing.
        Part("speed --device cpu --only efforts", 4),
        _speed("cpu", 2, "sizes"),
        _speed("cpu", 1, "training-bound"),
        _speed("cpu", 2, "anomalib"),
        Part("frontier --only fashion-mnist-45", 6),
        Part("frontier --only fashion-mnist-01", 6),
        Part("frontier --only svhn-45", 9),
        Part("checks --only onnx", 2),
        # Their records, too, were made beside other work.
        Part("checks --only in_colour", 2),
        *(
            Part(f"densities --size small --inliers {name}{more}", 4)
            for name, more in (
                ("cifar10-clusters-45", " --select"),
                ("svhn-clusters-45", " --select"),
                ("cifar10", ""),
                ("svhn", ""),
            )
        ),
        *(
            Part(
                f"panel --baselines --seeds {seed} --inliers {name}",
                minutes,
                f"panel/{group}:baseline/*@{seed}",
            )
            for seed in (0, 1, 2)
            for name, group, minutes in (
                ("fashion-mnist", "fashion-mnist", 2),
                ("mnist", "mnist", 2),
                ("svhn", "svhn", 3),
                ("cifar10", "cifar10", 3),
                ("fashion-mnist-heldout", "fashion-mnist-heldout-*", 3),
            )
        ),
        *(Part(f"paper --baselines --seeds {seed}", 6, f"paper/*:baseline/*@{seed}") for seed in (0, 1, 2)),
        Part("latent --device cpu --only timing", 1, "latent/timing:cpu"),
        Part("latent --device cpu --only plane", 3, "latent/plane:*"),
        *(
            Part(f"latent --device cpu --only expressions --seeds {n}", 8, f"latent/expressions:*@{n}")
            for n in (0, 1, 2)
        ),
        *(  # takes BoTorch
            Part(
                f"latent --device cpu --only expressions-search --seeds {n}",
                5,
                f"latent/expressions-search:*@{n}",
            )
            for n in (0, 1, 2)
        ),
        Part("guarantees", 3, "guarantees/guarantees:*"),
        Part("service", 5, "service/service:*"),
        Part("attacks", 9, "service/attacks:*"),
        Part("checks --only demo", 2, "checks/demo:*"),
        # The demo's fit once more; its records were made beside other work, and their seconds say nothing.
        *(Part(f"checks --only fused --seeds {n}", 6) for n in (0, 1, 2)),
        Part("checks --only importance", 2, "checks/importance:*"),
        Part("checks --only memory", 8),  # its record is of four times the images
        Part("checks --only proposals", 6, "checks/proposals:*"),
        Part("checks --only streaming", 5, "checks/streaming:*"),
        _tables(4, *_SIMPLE, options="--seeds 0,1,2"),
        *(
            _tables(minutes, name, options=f"--seeds {seed}")
            for seed in (0, 1, 2)
            for name, minutes in (
                ("detector", 9),
                ("bayesian-flow", 10),
                ("bayesian-vae", 9),
                ("pyod-vae", 6),
            )
        ),
        *(_tables(6, options=f"--contaminated --seeds {seed}") for seed in (0, 1, 2)),
        Part("checks --only shift", 3, "checks/shift:*"),
        *(Part(f"checks --only svhn --seeds {n}", 6, f"checks/svhn:*@{n}") for n in (0, 1, 2)),
        Part("checks --only few", 5, "checks/few:*"),
        Part("checks --only absurd", 2, "checks/absurd:*"),
        Part("checks --only shards", 4, "checks/shards:*"),
        Part("checks --only kills", 6, "checks/kills:*"),
        Part("checks --only ray_workers", 3),  # where Ray is: its environment is .venv-integrations
        Part("checks --only manifests", 4),  # Slurm waits two minutes before it runs a requeued task again
        # Its records were made beside other programs, which made it take twice as long.
        Part("checks --only larger --seeds 0", 8),
        Part("checks --only larger --seeds 1,2", 3),
        Part("checks --only fuzz", 3, "checks/fuzz:*"),
    ),
}
"""By machine; each list is run from its beginning to its end."""
