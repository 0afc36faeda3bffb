"""The straightforward implementation in a process of its own: ``python -m`` this."""

from __future__ import annotations

import torch

from benchmarks.speed.straightforward import Training
from benchmarks.speed.subject import images, plain_conv, plain_default, plain_dense
from benchmarks.speed.timing import seconds
from benchmarks.speed.worker import answer_requests
from dissensus.models.inputs import unit_scale

__all__ = ["Process"]

CPU = torch.device("cpu")


class Process:
    """Answers ``prepare`` and ``epoch``."""

    def __init__(self) -> None:
        self.training: Training | None = None

    def prepare(self, network: str, count: int, batch_size: int) -> None:
        """Sets up the training of one of the networks on the first ``count`` images."""
        data = unit_scale(images(count))
        vae = {"conv": plain_conv, "default": plain_default, "dense": plain_dense}[network]()
        if network == "dense":
            data = data.flatten(1)
        self.training = Training(vae, data, batch_size=batch_size, device=CPU)

    def epoch(self) -> float:
        """Seconds of one epoch."""
        assert self.training is not None
        return seconds(self.training.epoch, CPU)


if __name__ == "__main__":
    process = Process()
    answer_requests({"prepare": process.prepare, "epoch": process.epoch})
