"""Chains of a fit in parts on disk: the files of a gate that nothing can be asked of yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from dissensus.atomic import present
from dissensus.detector.apart import Chains
from dissensus.detector.drawing import Sampled
from dissensus.detector.kept import KEPT_FILES, KeptFiles, write_kept
from dissensus.detector.learnt import LeftOut
from dissensus.detector.sampling import settled
from dissensus.detector.saving import IN_PARTS, believed, described, kind_of
from dissensus.detector.statistic import OwnScores
from dissensus.detector.trust import LEFT_OUT
from dissensus.errors import ArtifactError, DissensusError, brief
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
    arrays = {**sampled.preprocessor.arrays(), **_watched_to_arrays(sampled.draws.watched)}
    beside = {
        name: partial(write_kept, chains.held_out, sampled.preprocessor, part)
        for part, name in KEPT_FILES.items()
    }
    write_artifact(folder, Artifact(config, sampled.draws, arrays, CARD, beside))


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
        return _restored(artifact, present(folder), device=device, statistic=statistic, own=own)
    except DissensusError as error:
        raise ArtifactError(f"{folder} cannot be loaded: {brief(error)}") from error
    except Exception as error:  # whoever wrote the files may have written anything
        raise ArtifactError(
            f"{folder} does not hold whole chains ({brief(error)}): fit this part again"
        ) from error


def _restored(
    artifact: Artifact, folder: Path, *, device: str, statistic: OwnScores, own: Mapping[str, Any]
) -> Chains:
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
    kept = KeptFiles(folder, preprocessor)
    kept.check()
    return Chains(
        detector,
        Sampled(preprocessor, model, draws, sampler, score),
        kept,
        {str(part): int(count) for part, count in config["fitted_rows"].items()},
        config["seed"],
        data,
        LeftOut(**config[LEFT_OUT]) if LEFT_OUT in config else None,
    )


def _any_detector() -> type[Detector]:
    from dissensus.detector.estimator import Detector

    return Detector


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
