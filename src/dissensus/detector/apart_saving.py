"""Chains of a fit in parts on disk: the files of a gate that nothing can be asked of yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from numpy.typing import NDArray

from dissensus.detector.apart import KEPT_PARTS, Chains, Kept, keeps_seen
from dissensus.detector.drawing import CODED, EXAMPLES, Sampled
from dissensus.detector.learnt import LeftOut
from dissensus.detector.sampling import settled
from dissensus.detector.saving import IN_PARTS, believed, described, kind_of
from dissensus.detector.statistic import OwnScores
from dissensus.detector.trust import LEFT_OUT
from dissensus.errors import ArtifactError, DissensusError, brief
from dissensus.inputs import Preprocessor
from dissensus.models.inputs import to_tensor
from dissensus.persistence import Artifact, read_artifact, write_artifact
from dissensus.posterior import Watched

if TYPE_CHECKING:
    from dissensus.detector.estimator import Detector

__all__ = ["load_chains", "save_chains"]

CARD = (
    "# Some chains of a fit in parts\n\nNo gate yet: join all parts with `dissensus join PARTS -o gate/`.\n"
)


def save_chains(chains: Chains, folder: str | Path) -> None:
    """Write chains, and the inputs that go with them, to a folder, as a whole or not at all."""
    sampled, detector = chains.sampled, chains.detector
    own = described(detector, sampled.preprocessor, sampled.model, sampled.score, sampled.sampler)
    config = {
        **own,
        "kind": IN_PARTS,
        "of": own["kind"],
        "fitted_rows": dict(chains.rows),
        "seed": chains.seed,
        "samples": int(detector.samples),
        "proposal": detector.proposal,
        "data": chains.data,
    }
    if chains.left_out is not None:
        config[LEFT_OUT] = asdict(chains.left_out)
    kept, seen = chains.held_out, keeps_seen(sampled.preprocessor)
    inputs = {part: kept.parts[part].numpy() if seen else kept.given(part) for part in KEPT_PARTS}
    arrays = {
        **sampled.preprocessor.arrays(),
        **{f"kept/{part}": array for part, array in inputs.items()},
        **_watched_to_arrays(sampled.draws.watched),
    }
    write_artifact(folder, Artifact(config, sampled.draws, arrays, CARD))


def load_chains(
    folder: str | Path,
    *,
    device: str = "auto",
    model: Any = None,
    observation: Any = None,
    statistic: OwnScores = None,
    embed: Any = None,
) -> Chains:
    """Read what :func:`save_chains` wrote."""
    artifact = read_artifact(folder)
    if artifact.config.get("kind") != IN_PARTS:
        raise ArtifactError(
            f"{folder} is a gate, not some chains of one: chains to be joined are made by dissensus fit "
            "--chain-offset, or by Detector.fit_chains"
        )
    own = {"model": model, "observation": observation, "networks": None, "embed": embed}
    try:
        return _restored(artifact, device=device, statistic=statistic, own=own)
    except DissensusError as error:
        raise ArtifactError(f"{folder} cannot be loaded: {brief(error)}") from error
    except Exception as error:  # whoever wrote the files may have written anything
        raise ArtifactError(
            f"{folder} does not hold whole chains ({brief(error)}): fit this part again"
        ) from error


def _restored(artifact: Artifact, *, device: str, statistic: OwnScores, own: Mapping[str, Any]) -> Chains:
    config, arrays = dict(artifact.config), artifact.calibration
    data, of = str(config.pop("data")), config.pop("of")
    as_gate = {**config, "kind": of, "noise_floor": 0.0}
    kind = kind_of(as_gate, _any_detector())
    detector, preprocessor, model, score = believed(
        kind, as_gate, arrays, artifact.draws, device=device, statistic=statistic, own=own
    )
    detector._in_parts = True
    detector._check()
    sampler = settled(detector, model.recommended)
    draws = replace(artifact.draws, watched=_watched_from_arrays(arrays))
    return Chains(
        detector,
        Sampled(preprocessor, model, draws, sampler, score),
        _kept(arrays, preprocessor),
        {str(part): int(count) for part, count in config["fitted_rows"].items()},
        config["seed"],
        data,
        LeftOut(**config[LEFT_OUT]) if LEFT_OUT in config else None,
    )


def _any_detector() -> type[Detector]:
    from dissensus.detector.estimator import Detector

    return Detector


def _kept(arrays: Mapping[str, NDArray[Any]], preprocessor: Preprocessor) -> Kept:
    found = {part: arrays[f"kept/{part}"] for part in KEPT_PARTS}
    seen = keeps_seen(preprocessor)
    for part, inputs in found.items():
        if inputs.shape[1:] != (preprocessor.seen if seen else preprocessor.shape):
            raise ArtifactError(f"its inputs for {part} are not of the shape that its model reads")
        if not len(inputs) and part not in (CODED, EXAMPLES):
            raise ArtifactError(f"it holds no inputs for {part}")
    if seen:
        blank = {part: np.zeros(len(inputs), np.uint8) for part, inputs in found.items()}
        return Kept(blank, {part: torch.from_numpy(inputs) for part, inputs in found.items()})
    return Kept(found, {part: to_tensor(preprocessor.transform(inputs)) for part, inputs in found.items()})


def _watched_to_arrays(watched: Watched) -> dict[str, NDArray[Any]]:
    """By chain (T, n), and the epochs (T,), which are the same for all chains."""
    chains, epochs = sorted({c for c, _ in watched}), sorted({t for _, t in watched})
    found = {f"watched/{c}": np.array([watched[c, t] for t in epochs]) for c in chains}
    return found | {"watched/epochs": np.array(epochs, np.int64)}


def _watched_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> dict[tuple[int, int], NDArray[np.float64]]:
    epochs = arrays["watched/epochs"].tolist()
    return {
        (int(name.removeprefix("watched/")), epoch): values
        for name, series in arrays.items()
        if name.startswith("watched/") and name != "watched/epochs"
        for epoch, values in zip(epochs, cast("NDArray[np.float64]", series), strict=True)
    }
