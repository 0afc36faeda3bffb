"""Steps that are recorded once and replayed on a GPU, with the plain loop's trajectory for the same noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor

from dissensus.posterior.chain import Chain

__all__ = ["CapturedEngine"]


class CapturedEngine:
    """All chains' steps as one CUDA graph, each chain on a stream of its own.

    The graph is recorded again when a chain's adaptation ends, because its step is then another one.
    """

    def __init__(self, chains: Sequence[Chain]) -> None:
        self.chains = chains
        device = chains[0].data.device
        self.rows = torch.zeros(len(chains), chains[0].batch_size, dtype=torch.int64, device=device)
        self.objective = torch.zeros(len(chains), dtype=torch.float64, device=device)
        self.streams = [torch.cuda.Stream(device) for _ in chains]  # type: ignore[no-untyped-call]
        self.graph: torch.cuda.CUDAGraph | None = None
        self.captured_adapt: list[bool] | None = None

    def run_epoch(self, epoch: int) -> Tensor:
        """Epoch t of all chains; the steps' mean objectives (C, steps)."""
        order = self._begin(epoch)
        if self.captured_adapt != [chain.adapt for chain in self.chains]:
            self._capture()
            # Recording ran real steps and was undone; the streams of randomness start over too.
            order = self._begin(epoch)
        assert self.graph is not None
        trace = torch.empty(order.shape[0], len(self.chains), dtype=torch.float64, device=order.device)
        for step, rows in enumerate(order):
            self.rows.copy_(rows)
            self.graph.replay()
            trace[step].copy_(self.objective)
        return trace.T

    def _begin(self, epoch: int) -> Tensor:
        """Row numbers (steps, C, B)."""
        return torch.stack([cast(Tensor, chain.begin_epoch(epoch)) for chain in self.chains], dim=1)

    def _capture(self) -> None:
        before = [{k: v.clone() for k, v in chain.tensors().items()} for chain in self.chains]
        self.graph = torch.cuda.CUDAGraph()
        for chain in self.chains:
            self.graph.register_generator_state(chain.generator)
        # The kernels that are fastest for these shapes, chosen and warmed up before anything is recorded.
        # Where convolutions may be done in TF32, as torch allows unless told otherwise, dense layers may be.
        dense_tf32 = torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32
        with torch.backends.cudnn.flags(
            enabled=True,
            benchmark=True,
            deterministic=torch.backends.cudnn.deterministic,
            allow_tf32=torch.backends.cudnn.allow_tf32,
        ):
            for _ in range(3):
                self._step_all()
            torch.cuda.synchronize()
            # Another thread may run chains on another GPU: what it asks of the driver is its own affair.
            with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
                self._step_all()
        torch.backends.cuda.matmul.allow_tf32 = dense_tf32
        for chain, tensors in zip(self.chains, before, strict=True):
            chain.restore(tensors)
        self.captured_adapt = [chain.adapt for chain in self.chains]

    def _step_all(self) -> None:
        current = torch.cuda.current_stream()
        for number, (chain, stream) in enumerate(zip(self.chains, self.streams, strict=True)):
            stream.wait_stream(current)
            with torch.cuda.stream(stream):
                self.objective[number].copy_(chain.step(self.rows[number]))
        for stream in self.streams:
            current.wait_stream(stream)
