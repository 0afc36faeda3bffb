"""Chains that were run apart become one detector: the score learns, and is calibrated, once."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dissensus.detector.apart import Chains
from dissensus.detector.calibrating import warn_if_mute, warn_if_outliers_rule
from dissensus.detector.describing import warn_if_unsound
from dissensus.detector.drawing import Sampled, with_score
from dissensus.detector.fitting import calibrated
from dissensus.detector.measuring import OnProgress
from dissensus.detector.sampling import Sampler
from dissensus.detector.saving import described
from dissensus.errors import DataError
from dissensus.posterior import SamplingSettings, as_one_run

if TYPE_CHECKING:
    from dissensus.detector.estimator import Detector

__all__ = ["join_chains"]


def join_chains(parts: Sequence[Chains], *, on_progress: OnProgress | None = None) -> Detector:
    """The detector that one machine would have fitted with all of the parts' chains.

    Parts of other settings or other inputs, and two parts of one chain, are a DataError.
    """
    if not parts:
        raise DataError("there are no chains to join: give at least one part")
    _check_alike(parts)
    draws = as_one_run([part.sampled.draws for part in parts])
    first = parts[0]
    sampler = _of_all([part.sampled.sampler for part in parts])
    detector = _with(first.detector, sampler)
    plan = detector._plan(None if first.left_out is None else first.left_out.contamination)
    plan = replace(plan, seed=first.seed)
    score = copy.deepcopy(first.sampled.score)  # the part stays as it is
    sampled = Sampled(first.sampled.preprocessor, first.sampled.model, draws, sampler, score)
    learnt = calibrated(with_score(sampled, first.held_out, plan), first.rows, plan, on_progress)
    detector._take(replace(learnt, left_out=first.left_out))
    warn_if_mute(detector)
    warn_if_outliers_rule(detector)
    warn_if_unsound(detector)
    return detector


def _of_all(samplers: Sequence[Sampler]) -> Sampler:
    """How weights are drawn by all parts together."""
    chains, draws = sum(each.chains for each in samplers), sum(each.draws for each in samplers)
    posterior = samplers[0].posterior
    if isinstance(posterior, SamplingSettings):
        posterior = replace(posterior, chains=chains)
    return replace(samplers[0], posterior=posterior, chains=chains, draws=draws)


def _with(detector: Detector, sampler: Sampler) -> Detector:
    """An unfitted detector with the same settings and all chains."""
    arguments: dict[str, Any] = detector.get_params(deep=False)
    arguments |= {"chains": sampler.chains, "draws": sampler.draws}
    if isinstance(sampler.posterior, SamplingSettings):
        arguments["posterior"] = sampler.posterior
    return type(detector)(**arguments)


def _check_alike(parts: Sequence[Chains]) -> None:
    first = parts[0]
    each = [_facts(part) for part in parts]
    for part, facts in zip(parts, each, strict=True):
        both = f"chains {_listed(first)} and {_listed(part)}"
        for name, value in facts.items():
            if value != each[0].get(name):
                raise DataError(
                    f"{both} were fitted with different settings ({name}): fit one part again as the other"
                )
        if part.data != first.data:
            raise DataError(
                f"{both} were fitted on different inputs: fit one part again on those of the other"
            )


def _facts(part: Chains) -> dict[str, Any]:
    """All that parts must have in common, but for the inputs."""
    sampled = part.sampled
    found = described(part.detector, sampled.preprocessor, sampled.model, sampled.score, sampled.sampler)
    settings = found.pop("settings")
    alike = {name: value for name, value in settings.items() if name not in ("chains", "draws", "posterior")}
    posterior = sampled.sampler.posterior
    if isinstance(posterior, SamplingSettings):
        posterior = replace(posterior, chains=1, first_chain=0)
    each = sampled.sampler.draws / sampled.sampler.chains
    asked = {"posterior": str(posterior), "draws of each chain": each, "seed": part.seed}
    return {**asked, **alike, **found, "left_out": part.left_out}


def _listed(part: Chains) -> str:
    return ", ".join(map(str, part.numbers))
