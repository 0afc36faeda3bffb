"""One posterior in the making: its chains, what is kept of them, and what they are watched by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from dissensus.errors import DataError, DivergenceError, SettingsError
from dissensus.models import VAE, architecture_config
from dissensus.models.inputs import unit_scale
from dissensus.posterior.chain import Chain
from dissensus.posterior.checkpoint import Checkpoint, fingerprint
from dissensus.posterior.diagnostics import Diagnostics, EpochReport, sampler_health, split_rhat
from dissensus.posterior.draws import WeightDraws
from dissensus.posterior.fitted import fitted_draws
from dissensus.posterior.settings import SamplingSettings
from dissensus.posterior.step_work import step_threads
from dissensus.posterior.swag import SWAG
from dissensus.seeding import torch_stream
from dissensus.torch_threads import torch_threads, usable_threads

__all__ = ["OnEpoch", "PosteriorRun"]

OnEpoch = Callable[[Sequence[EpochReport]], None]
Weights = dict[str, Tensor]

HELD_OUT_ROWS = 256  # enough for R̂; more would slow every epoch down
HELD_OUT_SAMPLES = 8  # K of the log-likelihoods that the chains are watched by
RUNAWAY = 2.0  # how much worse than at its start, and than thermal motion explains, a chain may become


class PosteriorRun:
    """The chains of one posterior, what was kept of them, and the checkpoint that mirrors both.

    Its arguments are those of :func:`dissensus.posterior.sample_posterior`.
    """

    def __init__(
        self,
        vae: VAE,
        data: Tensor,
        settings: SamplingSettings,
        *,
        seed: int,
        held_out: Tensor | None = None,
        checkpoint: str | Path | None = None,
        on_epoch: OnEpoch | None = None,
    ) -> None:
        if len(data) == 0:
            raise DataError("there are no rows to train on")
        tunes = isinstance(settings.decoder, SWAG) and settings.decoder.scale is None
        if tunes and (held_out is None or len(held_out) == 0):
            raise SettingsError("SWAG tunes its scale on held-out rows: pass held_out, or give it a scale")
        self.settings, self.on_epoch = settings, on_epoch
        batch_size = min(settings.batch_size, len(data))
        self.threads = usable_threads() if data.is_cuda else step_threads(vae, batch_size)
        """How many of torch's threads everything but the steps themselves is divided between."""
        with torch_threads(self.threads):
            self.chains = [Chain(vae, settings, data, index, seed) for index in range(settings.chains)]
            self.start = [chain.noiseless_elbo() for chain in self.chains]
        self.held_out = None if held_out is None else unit_scale(held_out[:HELD_OUT_ROWS]).to(data.device)
        noise = torch_stream(seed, "held-out noise")
        self.noise = torch.randn(HELD_OUT_SAMPLES, vae.latent_size, generator=noise).to(data.device)
        self.kept: dict[tuple[int, int], Weights] = {}
        self.reports: list[EpochReport] = []
        self.rhat: dict[int, float] = {}
        self.watched: list[Tensor] = []  # an epoch's held-out log-likelihoods (C, n), for R̂
        self.finished = 0
        self.checkpoint: Checkpoint | None = None
        if checkpoint is not None:
            described = {"settings": settings.describe(), "seed": seed, "model": architecture_config(vae)}
            # Of a user's own networks only the weights they start from can be described.
            start = [part.weights for chain in self.chains for part in chain.parts.values()]
            watched = [] if self.held_out is None else [self.held_out]
            self.checkpoint = Checkpoint(checkpoint, fingerprint(described, data, *watched, *start))
            self._resume(self.checkpoint)

    def end_epoch(self, epoch: int, trace: Tensor, seconds: float) -> None:
        """Checks and reports an epoch that the chains have run, keeps its draws, and saves.

        ``trace`` (C, steps) are the steps' mean ELBOs, ``seconds`` what a chain took.
        """
        self._check_finite(trace, epoch)
        self._check_sane(epoch)
        watched = self._watch()
        reports = [
            EpochReport(
                chain.index,
                epoch,
                float(trace[c].mean()),
                None if watched is None else float(watched[c].mean()),
                seconds,
                {n: h for n, p in chain.parts.items() if (h := sampler_health(p, chain.steps_per_epoch))},
            )
            for c, chain in enumerate(self.chains)
        ]
        self.reports += reports
        if self.settings.keeps(epoch):
            self._keep(epoch, watched)
        self.finished = epoch
        self._save()
        if self.on_epoch is not None:
            self.on_epoch(reports)

    def draws(self) -> WeightDraws:
        """Everything kept, chain by chain."""
        drawn, scales = self._drawn()
        first = self.chains[0]
        decoder = torch.stack([weights["decoder"] for _, _, weights in drawn])
        chain = np.array([c for c, _, _ in drawn], dtype=np.int64)
        if self.settings.encoder.samples:
            encoder = torch.stack([weights["encoder"] for _, _, weights in drawn])
            encoder_of = np.arange(len(drawn))
        else:
            encoder = torch.stack([chain.encoder.weights.cpu() for chain in self.chains])
            encoder_of = chain
        return WeightDraws(
            first.decoder.parameters.layout.split(decoder),
            first.encoder.parameters.layout.split(encoder),
            encoder_of.astype(np.int64),
            chain,
            np.array([t for _, t, _ in drawn], dtype=np.int64),
            Diagnostics(tuple(self.reports), dict(self.rhat), scales),
        )

    def _drawn(self) -> tuple[list[tuple[int, int, Weights]], dict[int, float]]:
        """Chain, epoch and weights of every draw; and by chain the scale of SWAG's Gaussian."""
        if not self.settings.decoder.fitted:
            return [(c, t, self.kept[c, t]) for c, t in sorted(self.kept)], {}
        drawn, scales = [], {}
        for chain in self.chains:
            iterates = [self.kept[c, t] for c, t in sorted(self.kept) if c == chain.index]
            fit = fitted_draws(chain, iterates, self.held_out, self.noise)
            drawn += [(chain.index, self.settings.epochs, weights) for weights in fit.draws]
            if fit.scale is not None:
                scales[chain.index] = fit.scale
        return drawn, scales

    def _watch(self) -> Tensor | None:
        """Log-likelihoods of the held-out rows under every chain (C, n)."""
        if self.held_out is None or len(self.held_out) == 0:
            return None
        rows = [chain.held_out_log_likelihood(self.held_out, self.noise) for chain in self.chains]
        return torch.stack(rows).cpu()

    def _keep(self, epoch: int, watched: Tensor | None) -> None:
        for chain in self.chains:
            draw = {"decoder": chain.decoder.weights.detach().cpu().clone()}
            if self.settings.encoder.samples:
                draw["encoder"] = chain.encoder.weights.detach().cpu().clone()
            self.kept[chain.index, epoch] = draw
            if self.checkpoint is not None:
                self.checkpoint.save_draw(chain.index, epoch, draw)
        if watched is not None:
            self.watched.append(watched)
            if len(self.watched) >= 4:
                series = torch.stack(self.watched, dim=1).numpy()
                self.rhat[epoch] = float(np.median(split_rhat(series)))

    def _check_finite(self, trace: Tensor, epoch: int) -> None:
        for chain, steps in zip(self.chains, trace, strict=True):
            bad = ~torch.isfinite(steps)
            broken = not all(bool(torch.isfinite(p.weights).all()) for p in chain.parts.values())
            if bool(bad.any()) or broken:
                step = int(bad.nonzero()[0]) + 1 if bool(bad.any()) else len(steps)
                raise self._diverged(chain, f"became non-finite at step {step} of epoch {epoch}")

    def _check_sane(self, epoch: int) -> None:
        """Finite but absurd is divergence too.

        Weights may fit worse than those they started from: thermal motion costs half a nat each, P/(2N) an
        input. Losing RUNAWAY times that and the whole ELBO at the start is no thermal motion.
        """
        for chain, start in zip(self.chains, self.start, strict=True):
            weights = sum(part.weights.numel() for part in chain.parts.values())
            now = chain.noiseless_elbo()
            if not now >= start - RUNAWAY * (max(abs(start), 1.0) + weights / (2 * len(chain.data))):
                raise self._diverged(
                    chain,
                    f"runs away: its negative ELBO is {-now:.4g} after {chain.steps_per_epoch} steps of "
                    f"epoch {epoch}, from {-start:.4g} at its start",
                )

    def _diverged(self, chain: Chain, what: str) -> DivergenceError:
        rates = ", ".join(
            f"{name} {getattr(part.rule, 'step_size', None) or getattr(part.rule, 'learning_rate', None):g}"
            for name, part in chain.parts.items()
        )
        last = next((r for r in reversed(self.reports) if r.chain == chain.index), None)
        state = (
            "there is no finite epoch before it"
            if last is None
            else (
                f"last finite diagnostics, epoch {last.epoch}: ELBO {last.training_elbo:.5g}"
                + "".join(
                    f", {name} kinetic temperature {h.kinetic_temperature:.3g}, κ median {h.kappa_50:.3g}, "
                    f"clamped {h.clamped_share:.0%}"
                    for name, h in last.health.items()
                )
            )
        )
        return DivergenceError(
            f"chain {chain.index} {what} (step sizes: {rates}; {state}): "
            "lower the step size or adapt for longer"
        )

    def _save(self) -> None:
        if self.checkpoint is None:
            return
        tensors = {f"{c.index}/{name}": t for c in self.chains for name, t in c.tensors().items()}
        if self.watched:
            tensors["watched"] = torch.stack(self.watched)
        self.checkpoint.save(self.finished, tensors, Diagnostics(tuple(self.reports), self.rhat).to_dict())

    def _resume(self, checkpoint: Checkpoint) -> None:
        saved = checkpoint.load()
        if saved is None:
            return
        self.finished, tensors, diagnostics = saved
        for chain in self.chains:
            prefix = f"{chain.index}/"
            chain.restore({k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)})
        self.watched = list(tensors["watched"]) if "watched" in tensors else []
        restored = Diagnostics.from_dict(diagnostics)
        self.reports, self.rhat = list(restored.reports), dict(restored.rhat)
        for epoch in filter(self.settings.keeps, range(1, self.finished + 1)):
            for chain in self.chains:
                self.kept[chain.index, epoch] = checkpoint.load_draw(chain.index, epoch)
