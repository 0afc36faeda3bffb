"""One density, trained and asked: how likely it finds pictures set aside, and which outliers it finds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import logsumexp
from torch import Tensor
from torch.nn import functional

from benchmarks.baselines.detectors import NearestNeighbour
from benchmarks.densities.candidates import FLOW, SIZES, Setup, make_candidate
from benchmarks.panel.inputs import Inputs, Purpose, load_inputs
from benchmarks.panel.rows import rows_of_scores, to_record
from benchmarks.panel.sets import EVERY_SET
from benchmarks.pieces import Found
from dissensus.likelihood import input_statistics, log_likelihoods
from dissensus.posterior import posterior_settings, sample_posterior
from dissensus.scores import MATRIX, SCORES, Fused, Fusion, Measured, input_complexity, score
from dissensus.seeding import torch_stream

__all__ = ["BASELINES", "CORRECTED", "EXTRA", "as_rows", "measure_density"]

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
BASELINES = ("nearest neighbour", "code-length", "isolation")
"""What takes no density, in every record."""


def measure_density(
    own: Setup, inliers: str, purpose: Purpose, seed: int, device: str, say: Callable[[str], None]
) -> Found:
    """The rows: outliers, a score, its AUROC, its power and the realised false share."""
    known = EVERY_SET[inliers]
    say("reading")
    inputs = load_inputs(known, SIZES[own["size"]], seed=seed, purpose=purpose)
    if own["halved"]:
        inputs = replace(inputs, training=_halved(inputs.training), scored=_halved(inputs.scored))
    shape = tuple(inputs.training.shape[1:])
    model = make_candidate(own, shape, seed)
    training, scored, offset = inputs.training, inputs.scored, 0.0
    if own["candidate"] == FLOW:
        training, scored, offset = as_rows(training, scored, seed)
    settings = posterior_settings(
        "ensemble",
        epochs=own["epochs"],
        draws=own["members"],
        chains=own["members"],
        batch_size=own["batch_size"],
        learning_rate=own["learning_rate"],
    )
    say("training")
    draws = sample_posterior(
        model,
        training.to(device),
        settings,
        seed=seed,
        on_epoch=lambda reports: say(f"epoch {reports[0].epoch} of {own['epochs']}"),
    )
    say("asking")
    matrix = (
        log_likelihoods(model, draws, scored, samples=own["samples"], seed=seed, device=device).values.astype(
            np.float64
        )
        + offset
    )
    statistics = input_statistics(model, draws, scored, device=device)
    say("scoring")
    scores = _scores(matrix, statistics, inputs, seed)
    rows = rows_of_scores(
        known, inputs.sections, scores, posterior="ensemble", recommended_score=None, seed=seed
    )
    about = {
        "bits": _bits(matrix[:, inputs.sections["fitting"]], math.prod(shape)),
        "weights": sum(p.numel() for p in model.parameters()),
        "members": len(draws),
        "exact": not model.noise_size,
    }
    return Found(to_record(rows), about)


def _bits(matrix: FloatArray, dimensions: int) -> dict[str, float]:
    """Bits a dimension of pictures set aside: of all members together, and of one on average."""
    together = logsumexp(matrix, axis=0) - math.log(len(matrix))
    return {
        name: float(-values.mean() / dimensions / math.log(2))
        for name, values in (("together", together), ("one", matrix))
    }


def _scores(
    matrix: FloatArray, statistics: Mapping[str, FloatArray], inputs: Inputs, seed: int
) -> dict[str, FloatArray]:
    """Scores (N,) by name, of all sections; they learn from the pictures that are there for it."""
    fitting, fusing = inputs.sections["fitting"], inputs.sections["fusing"]
    measured, without_model = Measured(matrix), inputs.image_statistics
    raw: dict[str, FloatArray] = {}
    for name in SCORES:
        own = score(name)
        if own.requires == (MATRIX,) and measured.draws >= own.least_draws:
            raw[name] = own.fit(measured.select(fitting))(measured)
    raw |= {**statistics, **without_model}
    raw["complexity"] = input_complexity(matrix, without_model["code-length"])
    parts = [name for name in Fused.PARTS if name in raw]
    parts += [name for name in without_model if name not in parts]

    def fused(names: list[str], leading: Sequence[str] = Fused.LEADING) -> FloatArray:
        leading = [name for name in leading if name in names]
        chosen = {name: raw[name] for name in names}
        fusion = Fusion(Fused.DEPTH, leading).fit({name: own[fusing] for name, own in chosen.items()})
        return fusion(chosen)

    def alone(name: str) -> FloatArray:
        """On both sides."""
        return Fusion("gaussian").fit({name: raw[name][fitting]})({name: raw[name]})

    extra = [name for name in EXTRA if name in raw]
    found = {name: raw[name] for name in ("ess", "kl", "whitened", "mean-ll", "mixture-ll", "typicality")}
    found |= {"fused": fused(parts), "fused, no model": fused(list(without_model))}
    found |= {name: alone(name) for name in extra if name != "complexity"} | {"complexity": raw["complexity"]}
    if CORRECTED in raw:
        led = [name for name in Fused.LEADING if name != CORRECTED]
        found |= {CORRECTED: raw[CORRECTED], f"fused, not led by {CORRECTED}": fused(parts, led)}
    found |= {f"fused with {name}": fused([*parts, name]) for name in extra}
    if extra:
        found["fused with all"] = fused([*parts, *extra])
    near = NearestNeighbour().fit(_pictures(inputs.training), seed=seed)
    found["nearest neighbour"] = near(_pictures(inputs.scored))
    return found | {"code-length": alone("code-length"), "isolation": raw["isolation"]}


def _pictures(images: Tensor) -> NDArray[np.uint8]:
    return np.ascontiguousarray(images.permute(0, 2, 3, 1).cpu().numpy())


def _halved(images: Tensor) -> Tensor:
    """Pictures of half the sides, each pixel the rounded mean of four."""
    return functional.avg_pool2d(images.float(), 2).round().to(torch.uint8)


def as_rows(training: Tensor, scored: Tensor, seed: int) -> tuple[Tensor, Tensor, float]:
    """Pixels plus uniform noise, standardised, and what turns their log density into that of grey levels.

    The expected log density of x + u bounds log P(x) from below (Theis et al., 2016).
    """
    rows = []
    for part, images in (("training", training), ("scored", scored)):
        noise = torch.rand(images.shape, generator=torch_stream(seed, "densities", "dequantised", part))
        rows.append((images.float() + noise).flatten(1))
    mean, scale = rows[0].mean(0), rows[0].std(0).clamp(min=1)
    first, second = ((part - mean) / scale for part in rows)
    return first, second, -float(scale.double().log().sum())
