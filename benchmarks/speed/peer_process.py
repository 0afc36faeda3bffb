"""PyOD's and pythae's VAEs, timed by the interpreter of the environment they are installed in.

Run as a script, with nothing of this package: reads requests as lines of JSON, answers with seconds.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import io
import itertools
import json
import logging
import sys
import tempfile
import time
from typing import Any

import numpy as np
import torch
from torch import nn

__all__: list[str] = []


class PyOD:
    """Its VAE with the given layers, without the dropout and the weight decay that ours does not have."""

    def __init__(self, images: str, widths: list[int], latent: int, batch_size: int) -> None:
        from pyod.models.vae import VAE

        self.X = np.load(images).reshape(-1, 784).astype(np.float32) / 255
        self.detector = VAE(
            preprocessing=False,
            epoch_num=1,
            batch_size=batch_size,
            encoder_neuron_list=widths,
            decoder_neuron_list=widths[::-1],
            latent_dim=latent,
            output_activation_name="sigmoid",
            dropout_rate=0.0,
            optimizer_params={},
            device="cpu",
            verbose=0,
        )

    def train(self) -> float:
        """Seconds of one epoch: those that a fit spends on training."""
        train, spent = type(self.detector).train, []

        def timed(loader: Any) -> None:
            started = time.perf_counter()
            train(self.detector, loader)
            spent.append(time.perf_counter() - started)

        self.detector.train = timed
        self.detector.fit(self.X)
        return spent[0]

    def score(self, count: int) -> float:
        """Seconds of the scores of the first inputs."""
        started = time.perf_counter()
        self.detector.decision_function(self.X[:count])
        return time.perf_counter() - started


class Pythae:
    """Its VAE with the same layers, trained by its own trainer."""

    def __init__(self, images: str, widths: list[int], latent: int, batch_size: int) -> None:
        from pythae.data.datasets import BaseDataset
        from pythae.models import VAE, VAEConfig
        from pythae.models.base.base_utils import ModelOutput
        from pythae.models.nn import BaseDecoder, BaseEncoder
        from pythae.trainers import BaseTrainer, BaseTrainerConfig

        class Encoder(BaseEncoder):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.layers = nn.Sequential(*_dense([784, *widths]), nn.ReLU())
                self.mean, self.log_variance = (nn.Linear(widths[-1], latent) for _ in range(2))

            def forward(self, x: torch.Tensor) -> Any:
                h = self.layers(x.flatten(1))
                return ModelOutput(embedding=self.mean(h), log_covariance=self.log_variance(h))

        class Decoder(BaseDecoder):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.layers = nn.Sequential(*_dense([latent, *widths[::-1], 784]), nn.Sigmoid())

            def forward(self, z: torch.Tensor) -> Any:
                return ModelOutput(reconstruction=self.layers(z))

        self.X = torch.from_numpy(np.load(images).reshape(-1, 784).astype(np.float32) / 255)
        config = VAEConfig(input_dim=(784,), latent_dim=latent, reconstruction_loss="bce")
        self.model = VAE(config, encoder=Encoder(), decoder=Decoder())
        self.trainer = BaseTrainer(
            self.model,
            train_dataset=BaseDataset(self.X, torch.zeros(len(self.X))),
            training_config=BaseTrainerConfig(
                output_dir=tempfile.mkdtemp(),
                per_device_train_batch_size=batch_size,
                learning_rate=1e-3,
                no_cuda=True,
            ),
        )
        self.trainer.prepare_training()
        self.epochs = 0

    def train(self) -> float:
        """Seconds of one epoch."""
        started = time.perf_counter()
        self.trainer.train_step(self.epochs)
        self.epochs += 1
        return time.perf_counter() - started

    def likelihood(self, count: int, samples: int, batch_size: int) -> float:
        """Seconds of ``get_nll`` on the first inputs."""
        self.model.eval()
        started = time.perf_counter()
        with torch.no_grad():
            self.model.get_nll(self.X[:count], n_samples=samples, batch_size=batch_size)
        return time.perf_counter() - started


def _dense(sizes: list[int]) -> list[nn.Module]:
    layers: list[nn.Module] = []
    for before, after in itertools.pairwise(sizes):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return layers[:-1]


def main() -> None:
    """Answers until the input ends."""
    logging.disable(logging.CRITICAL)
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever the packages print is no answer
    subjects: dict[str, Any] = {}
    for line in sys.stdin:
        request = json.loads(line)
        do, package = request.pop("do"), request.pop("package")
        with contextlib.redirect_stderr(io.StringIO()):  # progress bars
            if do == "prepare":
                subjects[package] = {"pyod": PyOD, "pythae": Pythae}[package](**request)
                answer: Any = importlib.metadata.version(package)
            else:
                answer = getattr(subjects[package], do)(**request)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
