"""The chain driver: from a model and unlabelled data to weight draws."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from torch import Tensor

from dissensus.errors import SettingsError
from dissensus.models import GenerativeModel
from dissensus.posterior.blocks import BlockData
from dissensus.posterior.draws import WeightDraws
from dissensus.posterior.engines import engine_for
from dissensus.posterior.run import OnEpoch, PosteriorRun
from dissensus.posterior.settings import SamplingSettings
from dissensus.posterior.shared_inference import FixedInference, joined_by_inference
from dissensus.posterior.steady_memory import steady_memory
from dissensus.torch_threads import torch_threads

__all__ = ["epochs_of", "sample_posterior", "sample_together"]


def sample_posterior(
    model: GenerativeModel,
    data: Tensor | BlockData,
    settings: SamplingSettings,
    *,
    seed: int,
    held_out: Tensor | None = None,
    checkpoint: str | Path | None = None,
    on_epoch: OnEpoch | None = None,
) -> WeightDraws:
    """Runs ``settings.chains`` chains on ``data`` and returns their draws.

    ``data`` (N, *S) and ``held_out`` (n, *S) are uint8 or float tensors on the device to run on, or ``data``
    is read from where it is stored (:class:`~dissensus.posterior.blocks.BlockData`); ``model``
    gives the architecture and is left as it is. With ``settings.shared_inference`` the first chain is run
    before the others, which infer by what it has learnt. With ``checkpoint``, a folder, the run is saved
    after every epoch, and the same call made again goes on where it stopped, to the same bits.
    """
    if settings.shared_inference and settings.chains > 1 and model.inference:
        alone = settings.with_(chains=1, shared_inference=False)
        rest = settings.with_(
            chains=settings.chains - 1, first_chain=settings.first_chain + 1, shared_inference=False
        )
        folder = None if checkpoint is None else Path(checkpoint)
        first = sample_posterior(
            model,
            data,
            alone,
            seed=seed,
            held_out=held_out,
            checkpoint=folder and folder / "first",
            on_epoch=on_epoch,
        )
        others = sample_posterior(
            FixedInference(model, first),
            data,
            rest,
            seed=seed,
            held_out=held_out,
            checkpoint=folder and folder / "others",
            on_epoch=on_epoch,
        )
        return joined_by_inference(first, others, model)
    run = PosteriorRun(
        model, data, settings, seed=seed, held_out=held_out, checkpoint=checkpoint, on_epoch=on_epoch
    )
    return sample_together([run])[0]


def sample_together(runs: Sequence[PosteriorRun]) -> list[WeightDraws]:
    """Sample several posteriors side by side; each gives the draws it would give alone.

    Their chains fill a GPU together: eight take less time than twice four. All must step alike, on batches of
    one size and equally often an epoch; those of fewer epochs are done earlier.
    """
    found: list[WeightDraws] = []
    for _ in epochs_of(runs, found):
        pass
    return found


def epochs_of(runs: Sequence[PosteriorRun], found: list[WeightDraws]) -> Iterator[int]:
    """Runs the chains of several posteriors together, and yields each epoch when it is done.

    In the end their draws are in ``found``.
    """
    try:
        yield from _epochs(runs, found)
    finally:
        for run in runs:
            run.release()


def _epochs(runs: Sequence[PosteriorRun], found: list[WeightDraws]) -> Iterator[int]:
    if len({(chain.batch_size, chain.steps_per_epoch) for run in runs for chain in run.chains}) > 1:
        raise SettingsError("to sample together, all runs need as many rows and the same batch size")
    engine, stepping = None, None  # and the chains it was made for
    # One block for all epochs: short steps, and what the chains are watched by, on one thread.
    with steady_memory(), torch_threads(max((run.threads for run in runs), default=1)):
        for epoch in range(1, max((run.settings.epochs for run in runs), default=0) + 1):
            due = [run for run in runs if run.finished < epoch <= run.settings.epochs]
            if not due:
                continue
            chains = [chain for run in due for chain in run.chains]
            if chains != stepping:
                engine, stepping = engine_for(chains), chains
            assert engine is not None
            started = time.perf_counter()
            trace = engine.run_epoch(epoch).cpu()
            seconds = (time.perf_counter() - started) / len(trace)
            parts = trace.split([len(run.chains) for run in due])  # type: ignore[no-untyped-call]
            for run, part in zip(due, parts, strict=True):
                run.end_epoch(epoch, part, seconds)
            yield epoch
        found += [run.draws() for run in runs]
