"""A world in which every dataset is a handful of small images."""

import numpy as np
import pytest

from benchmarks.paper import baselines, benchmarks, clusters, latent, presets, ratio, tasks
from dissensus.inputs import Dataset
from dissensus.seeding import numpy_stream

TINY_SIZES = benchmarks.Sizes(training=64, test=12, validation=8, typical=6)


def tiny_dataset(name, split="train"):
    """Ten classes of bright squares on 28×28 (32×32 in colour); each dataset has its own brightness."""
    random = numpy_stream(0, name, split)
    shape = (32, 32, 3) if name in ("svhn", "cifar10") else (28, 28)
    images = random.integers(0, 60, size=(120, *shape))
    labels = np.arange(120) % 10
    for image, label in zip(images, labels, strict=True):
        image[4 : 8 + label, 4:20] += 120 if name in ("fashion-mnist", "svhn") else 60
    return Dataset(images.astype(np.uint8), labels.astype(np.uint8), name, split)


@pytest.fixture(autouse=True)
def tiny_world(monkeypatch):
    for module in (benchmarks, clusters, latent):
        monkeypatch.setattr(module, "load_dataset", tiny_dataset)
    for module in (tasks, latent, baselines, ratio):
        monkeypatch.setattr(module, "QUICK", TINY_SIZES)
        monkeypatch.setattr(module, "FULL", TINY_SIZES)
    tiny = {
        name: presets.BenchPreset(
            name,
            step_size=1e-3,
            epochs=4,
            burn_in=2,
            chains=1 + (name == "settled"),
            members=2,
            member_epochs=1,
            batch_size=32,
            samples=2,
            latent_size=2,
            widths=(2, 4),
            hidden=8,
        )
        for name in presets.PRESETS
    }
    monkeypatch.setattr(presets, "PRESETS", tiny)
    monkeypatch.setattr(presets.BenchPreset, "quick", lambda self: self)
    quick = latent.LatentSettings(
        points=12, inputs=2, classifiers=2, classifier_epochs=1, neighbours=5, draws=3, samples=2
    )
    monkeypatch.setattr(latent, "LATENT_QUICK", quick)
    monkeypatch.setattr(latent, "LATENT_FULL", quick)
