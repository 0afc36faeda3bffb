"""One posterior in the making: its chains, what is kept of them, and what they are watched by."""

from __future__ import annotations

import logging
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dissensus.errors import DataError, SettingsError
from dissensus.models import GenerativeModel
from dissensus.posterior.agreement import median_rhat, median_size
from dissensus.posterior.blocks import BlockData
from dissensus.posterior.chain import Chain
from dissensus.posterior.checkpoint import Checkpoint, fingerprint
from dissensus.posterior.diagnostics import Diagnostics, EpochReport, Restart, sampler_health
from dissensus.posterior.divergence import divergence_error
from dissensus.posterior.draws import PartDraws, WeightDraws
from dissensus.posterior.engines import engine_for
from dissensus.posterior.rules import Drawn, Ending
from dissensus.posterior.settings import SamplingSettings
from dissensus.posterior.step_work import watching_threads
from dissensus.posterior.watching import HeldOut, watch, watch_all
from dissensus.seeding import torch_stream
from dissensus.torch_threads import torch_threads, usable_threads

__all__ = ["HELD_OUT_ROWS", "OnEpoch", "PosteriorRun"]

OnEpoch = Callable[[Sequence[EpochReport]], None]
Weights = dict[str, Tensor]

HELD_OUT_ROWS = 256  # enough for R̂; more would slow every epoch down
HELD_OUT_SAMPLES = 8  # K of the log-likelihoods that the chains are watched by

logger = logging.getLogger(__name__)


class PosteriorRun:
    """The chains of one posterior, what was kept of them, and the checkpoint that mirrors both.

    Its arguments are those of :func:`dissensus.posterior.sample_posterior`.
    """

    def __init__(
        self,
        model: GenerativeModel,
        data: Tensor | BlockData,
        settings: SamplingSettings,
        *,
        seed: int,
        held_out: Tensor | None = None,
        checkpoint: str | Path | None = None,
        on_epoch: OnEpoch | None = None,
    ) -> None:
        if len(data) == 0:
            raise DataError("there are no rows to train on")
        if settings.rule.needs_held_out and (held_out is None or len(held_out) == 0):
            name = type(settings.rule).__name__
            raise SettingsError(f"{name} is tuned on held-out rows: pass held_out, or set what is tuned")
        self.settings, self.on_epoch, self.seed = settings, on_epoch, seed
        self._model, self._data = model, data
        self.restarts: list[Restart] = []
        batch_size = min(settings.batch_size, len(data))
        self.threads = usable_threads() if data.is_cuda else watching_threads(model, batch_size)
        """How many of torch's threads everything but the steps themselves is divided between."""
        with torch_threads(self.threads):
            self.chains = [self._new_chain(index) for index in settings.chain_numbers]
            self.start = {chain.index: chain.noiseless_objective() for chain in self.chains}
        self.held_out: HeldOut | None = None
        if held_out is not None:
            stream = torch_stream(seed, "held-out noise")
            self.held_out = HeldOut(
                model.read(held_out[:HELD_OUT_ROWS]).to(data.device),
                torch.randn(HELD_OUT_SAMPLES, model.noise_size, generator=stream).to(data.device),
            )
        self.kept: dict[tuple[int, int], Weights] = {}
        self.reports: dict[tuple[int, int], EpochReport] = {}
        self.watched: dict[tuple[int, int], NDArray[np.float64]] = {}
        self.rhat: dict[int, float] = {}
        self.finished = 0
        self.checkpoint: Checkpoint | None = None
        if checkpoint is not None:
            described = {"settings": settings.describe(), "seed": seed, "model": _described(model)}
            # Of a user's own networks only the weights they start from can be described.
            start = [part.weights for chain in self.chains for part in chain.parts.values()]
            watched = [] if self.held_out is None else [self.held_out.inputs]
            if isinstance(data, BlockData):
                described["data"] = {"digest": data.digest, "block": data.block, "window": data.window}
                data = data.first(1)
            self.checkpoint = Checkpoint(checkpoint, fingerprint(described, data, *watched, *start))
            try:
                self._resume(self.checkpoint)
            except BaseException:
                self.release()
                raise

    def release(self) -> None:
        """Lets other processes use the checkpoint's folder: this run writes nothing more."""
        if self.checkpoint is not None:
            self.checkpoint.release()

    def end_epoch(self, epoch: int, trace: Tensor, seconds: float) -> None:
        """Checks and reports an epoch that the chains have run, keeps its draws, and saves.

        ``trace`` (C, steps) are the steps' mean objectives, ``seconds`` what a chain took. A chain that ran
        away is replaced by one that starts again with smaller steps and has caught up when this returns.
        """
        found = watch_all(self.chains, epoch, trace, self.start, self.held_out, threads=self.threads)
        for c, chain in enumerate(self.chains):
            if found[c].wrong is None:
                self._record(chain, epoch, trace[c], seconds, found[c].log_likelihood)
        for c, seen in enumerate(found):
            if seen.wrong is not None:
                self._start_again(self.chains[c].index, epoch, seen.wrong)
        if self.settings.keeps(epoch):
            self._compare_chains(epoch)
        self.finished = epoch
        self._save()
        if self.on_epoch is not None:
            self.on_epoch([self.reports[chain.index, epoch] for chain in self.chains])

    def draws(self) -> WeightDraws:
        """Everything kept, chain by chain."""
        found = {chain.index: self._finished(chain) for chain in self.chains}
        drawn = [(c, t, weights) for c, own in found.items() for t, weights in own.draws]
        chain = np.array([c for c, _, _ in drawn], dtype=np.int64)
        parts = {}
        for name, part in self.chains[0].parts.items():
            layout = part.parameters.layout
            if name in self.chains[0].drawn:
                stacks = layout.split(torch.stack([weights[name] for _, _, weights in drawn]))
                parts[name] = PartDraws(stacks, np.arange(len(drawn)))
            else:
                own = [one.parts[name].weights.cpu() for one in self.chains]
                position = {one.index: number for number, one in enumerate(self.chains)}
                of = np.array([position[c] for c in chain.tolist()], dtype=np.int64)
                parts[name] = PartDraws(layout.split(torch.stack(own)), of)
        epoch = np.array([t for _, t, _ in drawn], dtype=np.int64)
        told = self._diagnostics({c: own.tuned for c, own in found.items() if own.tuned})
        # At the end alone: it takes a while.
        size = median_size(self.watched, self.settings.chain_numbers, self.settings.epochs)
        return WeightDraws(parts, chain, epoch, replace(told, effective_size=size), dict(self.watched))

    def _new_chain(self, index: int) -> Chain:
        """Chain number ``index`` at its start, with half the step size for each time it has run away."""
        times = sum(restart.chain == index for restart in self.restarts)
        return Chain(self._model, self.settings.slower(times), self._data, index, self.seed)

    def _record(
        self, chain: Chain, epoch: int, steps: Tensor, seconds: float, watched: Tensor | None
    ) -> None:
        """Keeps what is to be known of an epoch that one chain has run well."""
        c = chain.index
        self.reports[c, epoch] = EpochReport(
            c,
            epoch,
            float(steps.mean()),
            None if watched is None else float(watched.mean()),
            seconds,
            chain.steps_per_epoch,
            self.settings.adapts(epoch, chain.steps_per_epoch),
            {n: h for n, p in chain.parts.items() if (h := sampler_health(p, chain.steps_per_epoch))},
            self.settings.keeps(epoch),
        )
        if not self.settings.keeps(epoch):
            return
        draw = {name: chain.parts[name].weights.detach().cpu().clone() for name in chain.drawn}
        self.kept[c, epoch] = draw
        if self.checkpoint is not None:
            self.checkpoint.save_draw(c, epoch, draw)
        if watched is not None:
            self.watched[c, epoch] = watched.numpy()

    def _start_again(self, index: int, epoch: int, reason: str) -> None:
        """Puts a slower chain in the place of one that ran away in ``epoch``, and lets it catch up.

        Its draws of earlier epochs are replaced, and the others' stay. Raises DivergenceError once it has
        been started again so often as the settings allow.
        """
        wrong: str | None = reason
        place = self.settings.chain_numbers.index(index)
        while wrong is not None:
            gone = self.chains[place]
            error = divergence_error(gone, wrong, self._last_report(index))
            if sum(restart.chain == index for restart in self.restarts) >= self.settings.restarts:
                raise error
            slower = gone.settings.slower(1)
            sizes = {name: slower.rule_of(name, gone.drawn).step_size for name in gone.parts}
            self.restarts.append(Restart(index, epoch, wrong, sizes))
            logger.warning("%s", self.restarts[-1])
            self.chains[place] = self._new_chain(index)
            for recorded in (self.reports, self.kept, self.watched):
                for key in [key for key in recorded if key[0] == index]:
                    del recorded[key]
            wrong = self._catch_up(self.chains[place], epoch)
        self.rhat.clear()
        for earlier in filter(self.settings.keeps, range(1, epoch)):
            self._compare_chains(earlier)

    def _catch_up(self, chain: Chain, epoch: int) -> str | None:
        """Runs a new chain up to the end of ``epoch``; returns what went wrong, if anything did."""
        engine = engine_for([chain])
        for earlier in range(1, epoch + 1):
            started = time.perf_counter()
            steps = engine.run_epoch(earlier)[0].cpu()
            seconds = time.perf_counter() - started
            seen = watch(chain, earlier, steps, self.start[chain.index], self.held_out)
            if seen.wrong is not None:
                return seen.wrong
            self._record(chain, earlier, steps, seconds, seen.log_likelihood)
        return None

    def _compare_chains(self, epoch: int) -> None:
        """R̂ of the held-out log-likelihoods up to a kept epoch."""
        if (found := median_rhat(self.watched, self.settings.chain_numbers, epoch)) is not None:
            self.rhat[epoch] = found

    def _finished(self, chain: Chain) -> Drawn:
        """The draws of one chain.

        They are a function of its final state, what was kept of it and its seed, so a run that is read back
        from its checkpoint gives the same draws.
        """
        ending = Ending(
            self.settings.epochs,
            {t: self.kept[c, t] for c, t in sorted(self.kept) if c == chain.index},
            {name: (chain.parts[name].state, chain.parts[name].weights) for name in chain.drawn},
            self.settings.fitted_draws or 0,
            chain.size,
            partial(torch_stream, chain.seed, "chain", chain.index),
            partial(self._explains, chain),
        )
        return chain.settings.rule.finish(ending)

    def _explains(self, chain: Chain, draws: Sequence[Mapping[str, Tensor]]) -> float:
        """The mean over draws and held-out inputs of log p(x); the chain's own weights are put back."""
        assert self.held_out is not None
        own = {name: part.weights.clone() for name, part in chain.parts.items()}
        means = []
        try:
            for draw in draws:
                chain.load(draw)
                means.append(float(chain.held_out_log_likelihood(*self.held_out).mean()))
        finally:
            chain.load(own)
        return statistics.fmean(means)

    def _last_report(self, index: int) -> EpochReport | None:
        own = [report for (c, _), report in self.reports.items() if c == index]
        return max(own, key=lambda report: report.epoch, default=None)

    def _diagnostics(self, tuned: Mapping[int, Mapping[str, float]] | None = None) -> Diagnostics:
        in_order = sorted(self.reports.values(), key=lambda report: (report.epoch, report.chain))
        return Diagnostics(tuple(in_order), dict(self.rhat), None, tuned or {}, tuple(self.restarts))

    def _save(self) -> None:
        if self.checkpoint is None:
            return
        tensors = {f"{c.index}/{name}": t for c in self.chains for name, t in c.tensors().items()}
        watched = ((key, torch.from_numpy(values)) for key, values in self.watched.items())
        tensors |= {f"watched/{c}/{epoch}": values for (c, epoch), values in watched}
        self.checkpoint.save(self.finished, tensors, self._diagnostics().to_dict())

    def _resume(self, checkpoint: Checkpoint) -> None:
        saved = checkpoint.load()
        if saved is None:
            return
        self.finished, tensors, diagnostics = saved
        restored = Diagnostics.from_dict(diagnostics)
        self.reports = {(report.chain, report.epoch): report for report in restored.reports}
        self.rhat, self.restarts = dict(restored.rhat), list(restored.restarts)
        for index in {restart.chain for restart in self.restarts}:
            self.chains[self.settings.chain_numbers.index(index)] = self._new_chain(index)
        for chain in self.chains:
            prefix = f"{chain.index}/"
            chain.restore({k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)})
            for epoch in filter(self.settings.keeps, range(1, self.finished + 1)):
                self.kept[chain.index, epoch] = checkpoint.load_draw(chain.index, epoch)
                if f"watched/{chain.index}/{epoch}" in tensors:
                    self.watched[chain.index, epoch] = tensors[f"watched/{chain.index}/{epoch}"].numpy()


def _described(model: GenerativeModel) -> dict[str, Any]:
    """The architecture as JSON values; of a model that has none, its class."""
    try:
        return model.config()
    except NotImplementedError:
        kind = type(model)
        return {"class": f"{kind.__module__}:{kind.__qualname__}", "input_shape": list(model.input_shape)}
