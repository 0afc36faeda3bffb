"""The chains of one run divided between several devices, which run them at the same time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from dissensus.models import GenerativeModel
from dissensus.posterior.agreement import as_one_run
from dissensus.posterior.blocks import BlockData
from dissensus.posterior.diagnostics import EpochReport
from dissensus.posterior.draws import WeightDraws
from dissensus.posterior.driver import epochs_of, sample_posterior
from dissensus.posterior.run import OnEpoch, PosteriorRun
from dissensus.posterior.settings import SamplingSettings
from dissensus.side_by_side import side_by_side
from dissensus.torch_threads import usable_threads

__all__ = ["sample_on_devices"]


def sample_on_devices(
    model: GenerativeModel,
    data: Tensor | BlockData,
    settings: SamplingSettings,
    devices: Sequence[torch.device],
    *,
    seed: int,
    held_out: Tensor | None = None,
    checkpoint: str | Path | None = None,
    on_epoch: OnEpoch | None = None,
) -> WeightDraws:
    """Return what :func:`sample_posterior` gives on one device, with the chains divided between several.

    ``data`` may be anywhere. With ``checkpoint`` each device keeps its chains in a folder of its own there,
    so that an interrupted run goes on where as many devices are. On CPUs the draws are equal to the bit.
    """
    used = devices[: settings.chains]
    if len(used) == 1:
        return sample_posterior(
            model,
            _on(data, used[0]),
            settings,
            seed=seed,
            held_out=held_out,
            checkpoint=checkpoint,
            on_epoch=on_epoch,
        )
    shares = [share.tolist() for share in np.array_split(settings.chain_numbers, len(used))]
    found: list[list[WeightDraws]] = [[] for _ in used]
    reports: dict[int, list[EpochReport]] = {}

    def run(number: int) -> Iterator[list[EpochReport]]:
        own, device = shares[number], used[number]
        with torch.cuda.device(device) if device.type == "cuda" else nullcontext():
            chains = PosteriorRun(
                model,
                _on(data, device),
                settings.with_(chains=len(own), first_chain=own[0]),
                seed=seed,
                held_out=held_out,
                checkpoint=None if checkpoint is None else Path(checkpoint) / f"chains-from-{own[0]}",
            )
            for epoch in epochs_of([chains], found[number]):
                yield [chains.reports[chain, epoch] for chain in own]

    threads = max(1, usable_threads() // len(used))
    for told in side_by_side([run(number) for number in range(len(used))], threads=threads):
        # An epoch is told of when all its chains have run it: those of another device may be ahead.
        own = reports.setdefault(told[0].epoch, [])
        own += told
        if len(own) == settings.chains and on_epoch is not None:
            on_epoch(sorted(own, key=lambda report: report.chain))
    return as_one_run([draws for own_draws in found for draws in own_draws])


def _on(data: Tensor | BlockData, device: torch.device) -> Tensor | BlockData:
    return replace(data, device=device) if isinstance(data, BlockData) else data.to(device)
