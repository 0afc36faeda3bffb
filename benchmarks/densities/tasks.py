"""The records of the densities: what each is made from, and the scores that are reported of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from benchmarks.archive import Archive
from benchmarks.densities.candidates import setup
from benchmarks.densities.runs import NEAREST, DensityRun, PicturesRun
from benchmarks.panel.inputs import Purpose
from benchmarks.panel.rows import rows_of_scores, to_record
from benchmarks.panel.scores import sections_of, weights_of
from benchmarks.panel.sets import InlierSet
from benchmarks.runner import Report, Results, Task
from dissensus.errors import DataError
from dissensus.scores import MATRIX, SCORES, Fused, Fusion, Measured, input_complexity, score

__all__ = ["BASELINES", "CORRECTED", "EXTRA", "density_tasks", "group_of", "scores_of"]

FloatArray = NDArray[np.float64]

EXTRA = (
    "code-fit",
    "code-dependence",
    "gradient-norm",
    "lowest-gain",
    "lower-gain",
    "top-norm",
    "complexity",
)
"""Statistics that are no part of the fused score yet: each is also measured as one more part of it."""
CORRECTED = "corrected-ll"
BASELINES = (NEAREST, "code-length", "isolation")
"""What takes no density, in every record."""
OF_MATRIX = ("ess", "kl", "whitened", "mean-ll", "mixture-ll", "typicality")


def group_of(inliers: str, size: str) -> str:
    """The records of an in-distribution set at a size."""
    return f"{inliers}-{size}"


def density_tasks(
    inliers: Sequence[InlierSet], candidates: Sequence[str], size: str, purpose: Purpose, seeds: Sequence[int]
) -> list[Task]:
    """A record for each density of each set; a whole seed before the next."""
    tasks = []
    for seed, each, candidate in itertools.product(seeds, inliers, candidates):
        pictures = PicturesRun(each, size, purpose, seed)
        density = DensityRun(each, size, purpose, seed, setup(candidate, size))
        tasks.append(
            Task(
                group=group_of(each.name, size),
                name=candidate,
                seed=seed,
                settings=density.settings,
                runs={"density": density, "pictures": pictures},
                report=partial(_report, each, seed),
            )
        )
    return tasks


def _report(inliers: InlierSet, seed: int, results: Results) -> Report:
    """The rows: outliers, a score, its AUROC, its power and the realised false share."""
    density, pictures = results["density"], results["pictures"]
    if density.info["pictures"] != pictures.info["pictures"]:
        raise DataError(
            f"the cached runs of {inliers.name}, seed {seed}, are of different pictures, of another dataset "
            "or made on machines that round differently: delete them, and measure again on one machine"
        )
    sections = sections_of(density)
    matrix = density["matrix"].astype(np.float64) + density["mean"]
    rows = rows_of_scores(
        inliers,
        sections,
        scores_of(matrix, _doubles(density), _doubles(pictures), sections),
        posterior="ensemble",
        recommended_score=None,
        seed=seed,
    )
    about = {
        "bits": _bits(matrix[:, sections["fitting"]], density.info["dimensions"]),
        "weights": density.info["weights"],
        "members": density.info["draws"],
        "exact": density.info["exact"],
    }
    return Report(to_record(rows), about)


def _doubles(result: Archive) -> dict[str, FloatArray]:
    return {name: values.astype(np.float64) for name, values in result.below("statistic").items()}


def _bits(matrix: FloatArray, dimensions: int) -> dict[str, float]:
    """Bits a dimension of pictures set aside: of all members together, and of one on average."""
    together = logsumexp(matrix, axis=0) - math.log(len(matrix))
    return {
        name: float(-values.mean() / dimensions / math.log(2))
        for name, values in (("together", together), ("one", matrix))
    }


def scores_of(
    matrix: FloatArray,
    of_draws: Mapping[str, FloatArray],
    of_pictures: Mapping[str, FloatArray],
    sections: Mapping[str, slice],
) -> dict[str, FloatArray]:
    """Scores (N,) by name, of all sections; they learn from the pictures that are there for it."""
    fitting, fusing = sections["fitting"], sections["fusing"]
    measured = Measured(matrix)
    raw: dict[str, FloatArray] = {}
    for name in SCORES:
        own = score(name)
        if own.requires == (MATRIX,) and measured.draws >= own.least_draws:
            raw[name] = own.fit(measured.select(fitting))(measured)
    without_model = {name: values for name, values in of_pictures.items() if name != NEAREST}
    raw |= {**of_draws, **without_model}
    raw["complexity"] = input_complexity(matrix, without_model["code-length"])
    parts = [name for name in Fused.PARTS if name in raw]
    parts += [name for name in without_model if name not in parts]

    def fused(names: Sequence[str], leading: Sequence[str] = Fused.LEADING) -> FloatArray:
        leading = [name for name in leading if name in names]
        chosen = {name: raw[name] for name in names}
        weighed = [name for name in Fused.WEIGHED if name in names]
        fusion = Fusion(Fused.DEPTH, leading, weights_of(weighed, raw, sections))
        return fusion.fit({name: own[fusing] for name, own in chosen.items()})(chosen)

    def alone(name: str) -> FloatArray:
        """On both sides."""
        return Fusion("gaussian").fit({name: raw[name][fitting]})({name: raw[name]})

    extra = [name for name in EXTRA if name in raw]
    found = {name: raw[name] for name in OF_MATRIX if name in raw}
    found |= {"fused": fused(parts), "fused, no model": fused(list(without_model))}
    found |= {name: alone(name) for name in extra if name != "complexity"} | {"complexity": raw["complexity"]}
    if CORRECTED in raw:
        led = [*Fused.LEADING, CORRECTED]
        found |= {CORRECTED: raw[CORRECTED], f"fused, led by {CORRECTED} too": fused(parts, led)}
    found |= {f"fused with {name}": fused([*parts, name]) for name in extra}
    if extra:
        found["fused with all"] = fused([*parts, *extra])
    found[NEAREST] = of_pictures[NEAREST]
    return found | {"code-length": alone("code-length"), "isolation": raw["isolation"]}
