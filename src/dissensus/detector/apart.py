"""Chains of one fit that are run apart, on several machines, and joined to one detector.

Every part divides the inputs by the same seed, so that all chains of all parts see the same training inputs
and none sees those that the score learns from and is calibrated on. These, a fifth of the inputs, go with
each part: where parts are joined, the inputs themselves are not needed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.detector.bounded import StoredRows, prepared_on_disk
from dissensus.detector.drawing import Prepared, Sampled, preparing, sample
from dissensus.detector.fitting import divided
from dissensus.detector.kept import Kept, KeptFiles, kept_in_files, kept_in_memory
from dissensus.detector.latent_space import how_many_coded
from dissensus.detector.learnt import LeftOut
from dissensus.detector.measuring import OnProgress
from dissensus.detector.plan import Plan
from dissensus.detector.sampling import sampling_settings
from dissensus.detector.trimming import leaves_out, left_out, near_the_bulk
from dissensus.errors import SettingsError
from dissensus.models import GenerativeModel
from dissensus.posterior import SamplingSettings

if TYPE_CHECKING:
    from dissensus.detector.estimator import Detector

__all__ = ["Chains", "check_apart", "run_chains"]

DIGESTED = 4096  # inputs whose bytes are copied at once


@dataclass(frozen=True)
class Chains:
    """Some chains of a fit in parts, with all that it takes to join them with the others."""

    detector: Detector
    """As it was asked to be fitted, with the chains and draws of this part alone."""
    sampled: Sampled
    held_out: Kept | KeptFiles
    rows: Mapping[str, int]
    """How many inputs went into which part of the fit."""
    seed: int
    data: str
    """The digest of all inputs and of how they are divided."""
    left_out: LeftOut | None = None

    @property
    def numbers(self) -> list[int]:
        """Which chains these are."""
        return sorted(set(self.sampled.draws.chain.tolist()))

    def save(self, folder: str | Path) -> None:
        """Writes a folder of JSON and safetensors; an older one there, or a gate, is replaced."""
        from dissensus.detector.apart_saving import save_chains

        save_chains(self, folder)

    @classmethod
    def load(cls, folder: str | Path, *, device: str = "auto", **own: Any) -> Chains:
        """Reads what :meth:`save` wrote; code of your own is passed as to ``Detector.load``."""
        from dissensus.detector.apart_saving import load_chains

        return load_chains(folder, device=device, **own)


def check_apart(detector: Detector) -> None:
    """Refuses settings by which a chain depends on another one."""
    posterior = detector.posterior
    if isinstance(posterior, SamplingSettings) and posterior.shared_inference:
        raise SettingsError(
            "with shared_inference=True all chains infer by what the first chain has learnt, which chains on "
            "other machines do not have: leave it out, or fit all chains in one place"
        )


def run_chains(
    detector: Detector,
    X: Any,
    plan: Plan,
    first_chain: int,
    *,
    checkpoint: str | Path | None,
    on_progress: OnProgress | None,
    stacklevel: int,
) -> Chains:
    """Run some chains, numbered from ``first_chain`` on; warnings about inputs point so many calls up."""
    if isinstance(first_chain, bool) or not isinstance(first_chain, int) or first_chain < 0:
        raise SettingsError(f"first_chain must be a whole number of at least 0, got {first_chain!r}")
    check_apart(detector)
    own = replace(
        plan,
        sampling=lambda sampler, size: sampling_settings(detector, sampler, size).with_(
            first_chain=first_chain
        ),
    )
    if plan.memory is not None:
        on_disk = prepared_on_disk(X, own, checkpoint=checkpoint, stacklevel=stacklevel + 2)
        with on_disk as stored:
            return _run_on_disk(detector, stored, own, checkpoint=checkpoint, on_progress=on_progress)
    inputs, rows = divided(X, own)
    prepare = preparing(inputs, own)
    trims, kept = leaves_out(rows, own.contamination), rows
    prepared = prepare(rows, own.neighbours and not trims, stacklevel + 1)
    if trims:
        if prepared.preprocessor.pictured:
            raise SettingsError(
                "outliers among pictures are told by a first fit of all chains, which no part has: leave "
                "contamination out, or fit all chains in one place"
            )
        kept = near_the_bulk(prepared, own)
        prepared = prepare(kept, own.neighbours, None)
    sampled = sample(prepared, own, checkpoint=checkpoint, on_progress=on_progress)
    return Chains(
        detector,
        sampled,
        kept_in_memory(prepared.with_training_parts(**_training_parts(sampled.model, own))),
        prepared.counts,
        own.seed,
        _digest(len(inputs), prepared),
        left_out(rows, kept, own.contamination) if trims else None,
    )


def _run_on_disk(
    detector: Detector,
    prepared: StoredRows,
    plan: Plan,
    *,
    checkpoint: str | Path | None,
    on_progress: OnProgress | None,
) -> Chains:
    """Run chains on inputs that stay on disk; those that go with the chains are written to files."""
    sampled = sample(prepared, plan, checkpoint=checkpoint, on_progress=on_progress)
    kept = kept_in_files(
        prepared.with_training_parts(**_training_parts(sampled.model, plan)),
        sampled.preprocessor,
        None if checkpoint is None else Path(checkpoint) / "held-out",
    )
    data = _digest(len(prepared.stored), prepared)
    return Chains(detector, sampled, kept, prepared.counts, plan.seed, data)


def _training_parts(model: GenerativeModel, plan: Plan) -> dict[str, int]:
    """How many training inputs go with chains, as parts of their own."""
    return {"examples": plan.examples, "coded": how_many_coded(model, plan), "seed": plan.seed}


def _digest(inputs: int, prepared: Prepared) -> str:
    """Of so many inputs, and of which of them serve which purpose: the same, wherever they are."""
    digest = hashlib.sha256(f"{inputs}".encode())
    for part, count in prepared.counts.items():
        for number, seen in enumerate(prepared.seen(part)):
            if not number:
                digest.update(f" {part} {count} {tuple(seen.shape[1:])} {seen.dtype} ".encode())
            for rows in seen.split(DIGESTED):  # type: ignore[no-untyped-call]
                digest.update(rows.contiguous().numpy().tobytes())
    return digest.hexdigest()
