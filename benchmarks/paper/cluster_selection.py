"""Settings for the held-out classes, chosen by ESS on clusters that were left out of the training images.

K and the number of draws are varied on the same draws, network, latents and adaptation by a training each.
The rule was fixed before anything was measured: of all candidates that were measured on every pair of
clusters, the highest mean AUROC of ESS; the first of equals in the order below.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from statistics import fmean
from types import MappingProxyType

from benchmarks.clusters import PAIRS
from benchmarks.decimals import short
from benchmarks.grids import Grid, quick_title
from benchmarks.paper.cluster_runs import RUN, ClusterRun, first_draws
from benchmarks.paper.clusters import FULL, QUICK
from benchmarks.paper.presets import CHOSEN, BenchPreset
from benchmarks.records import Records
from benchmarks.runner import Report, Results, Task
from benchmarks.selection import Candidate, choose
from dissensus.evaluation import evaluate
from dissensus.scores import Measured, ess_disagreement, score

__all__ = ["CANDIDATES", "GROUP", "NOTE", "Plan", "chosen_preset", "cluster_grids", "cluster_tasks"]

GROUP = "selection-clusters"
NOTE = (
    "AUROC of ESS on two clusters of the training images that were left out of training, variant 1, against "
    "others of the clusters that were not; the mean over pairs of clusters decides. No test image and no "
    "label was read."
)


@dataclass(frozen=True)
class Plan:
    """What is compared on the draws of every training."""

    scored: tuple[tuple[int, int], ...]
    """K, and how many draws of a chain are in its matrix at most: decodings are what it costs."""
    draws: tuple[int, ...]
    """Numbers of draws a chain, the first of them."""


PLAN = Plan(scored=((32, 100), (128, 25), (512, 10)), draws=(10, 25, 100))
QUICK_PLAN = Plan(scored=((2, 2), (8, 2)), draws=(1, 2))

# The settings that the other two benchmarks are measured with, kept on for more draws.
_BASE = BenchPreset(CHOSEN, step_size=1e-2, epochs=55, burn_in=31, chains=4, adaptation=31)
CANDIDATES: Mapping[str, BenchPreset] = MappingProxyType(
    {
        "as elsewhere": replace(_BASE, epochs=130),
        "latent_size=10": replace(_BASE, latent_size=10),
        "latent_size=20": replace(_BASE, latent_size=20),
        "widths=64x128": replace(_BASE, widths=(64, 128)),
        "adaptation_steps=3000": replace(_BASE, adaptation=None, adaptation_steps=3_000),
    }
)
"""A training each; the first alone has 100 draws a chain, which cost 99 epochs after the burn-in."""


def cluster_tasks(seeds: Sequence[int], *, quick: bool) -> list[Task]:
    """A record for each pair of clusters and each training."""
    sizes, plan = (QUICK, QUICK_PLAN) if quick else (FULL, PLAN)
    tasks = []
    for seed, pair, (name, preset) in itertools.product(seeds, PAIRS, CANDIDATES.items()):
        own = preset.quick() if quick else preset
        kept = own.sampling(RUN).kept_epochs
        scored = tuple((K, min(count, kept)) for K, count in plan.scored)
        run = ClusterRun(name, pair, own, scored, sizes, seed)
        where = "".join(map(str, pair))
        report = partial(_report, plan)
        tasks.append(
            Task(GROUP, f"{name}/{where}", seed, run.settings, {RUN: run}, report, keeps_divergence=True)
        )
    return tasks


def _report(plan: Plan, results: Results) -> Report:
    """A row for each K and number of draws."""
    result = results[RUN]
    n, rows = int(result.info["inliers"]), []
    for samples, most in plan.scored:
        matrix, chain = result[f"matrix/{samples}"], result[f"chain/{samples}"]
        kept = int((chain == chain[0]).sum())
        for draws in plan.draws:
            if draws <= min(most, kept):
                own = matrix[first_draws(chain, draws)]
                areas = {
                    name: evaluate(scores[:n], scores[n:]).auroc
                    for name, scores in (("ess", ess_disagreement(own)), ("kl", score("kl")(Measured(own))))
                }
                rows.append({"samples": samples, "draws": draws, **areas})
    about = {"n_in": n, "n_out": matrix.shape[1] - n, "trained_on": result.info["trained_on"]}
    return Report(rows, about)


def compared(records: Records) -> dict[tuple[str, int, int], Candidate]:
    """Every candidate by training, draws a chain and K, with its mean AUROC of ESS over pairs of clusters."""
    found: dict[tuple[str, int, int], list[float]] = {}
    for record in records.read(GROUP):
        name = record.name.rsplit("/", 1)[0]
        for row in record.rows:
            found.setdefault((name, row["draws"], row["samples"]), []).append(row["ess"])
    order = {name: place for place, name in enumerate(CANDIDATES)}
    return {
        key: Candidate(f"{key[0]}, {key[1]} draws a chain, K = {key[2]}", fmean(areas), len(areas))
        for key, areas in sorted(found.items(), key=lambda item: (order.get(item[0][0], len(order)), item[0]))
    }


def chosen_preset(records: Records) -> BenchPreset | None:
    """The preset that the records choose, if there are any: the candidate's, as long as its draws take."""
    candidates = compared(records)
    if not candidates:
        return None
    best = choose(list(candidates.values()))
    ((name, draws, samples),) = (key for key, each in candidates.items() if each is best)
    preset = CANDIDATES[name].quick() if records.quick else CANDIDATES[name]
    return replace(preset, epochs=preset.burn_in + draws - 1, samples=samples)


def cluster_grids(records: Records) -> list[Grid]:
    """All candidates, the best first, and the preset that was chosen as Python."""
    candidates, preset = compared(records), chosen_preset(records)
    if preset is None:
        return []
    best = choose(list(candidates.values()))
    ranked = sorted(candidates.values(), key=lambda each: (-each.places, -each.value))
    lines = tuple(
        (each.name + " (chosen)" * (each is best), short(each.value), str(each.places)) for each in ranked
    )
    title = quick_title("Candidates for the held-out classes", records.quick)
    written = quick_title("The choice, for benchmarks/paper/presets.py", records.quick)
    return [
        Grid(title, ("", "AUROC of ESS", "pairs"), lines),
        Grid(written, ("preset",), ((as_python(preset),),)),
    ]


def as_python(preset: BenchPreset) -> str:
    """The call that makes the preset, without what is so by default.

    >>> as_python(BenchPreset("short", step_size=0.01, epochs=4, burn_in=2, chains=1))
    "BenchPreset(name='short', step_size=0.01, epochs=4, burn_in=2, chains=1)"
    """
    own = {each.name: getattr(preset, each.name) for each in fields(preset)}
    told = [f"{each.name}={own[each.name]!r}" for each in fields(preset) if own[each.name] != each.default]
    return f"BenchPreset({', '.join(told)})"
