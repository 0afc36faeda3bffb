"""A world in which every dataset is a handful of small images, and every network has a few weights."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from benchmarks import clusters
from benchmarks.panel import ablation, configuration, figures, inputs, rows, table, tasks
from dissensus.inputs import Dataset
from dissensus.models import build_vae
from dissensus.seeding import numpy_stream

TINY_SIZES = inputs.Sizes(
    training=48, fitting=24, fusing=24, calibration=24, inliers=30, outliers=12, test_calibration=36
)
TINY = replace(configuration.RECOMMENDED, chains=2, draws=4, samples=2, epochs=4, batch_size=24)


def tiny_dataset(name, split="train", count=240):
    """Ten classes of bright squares on 28×28 (32×32 in colour); each dataset has its own brightness."""
    random = numpy_stream(0, name, split)
    shape = (32, 32, 3) if name in ("svhn", "cifar10") else (28, 28)
    images = random.integers(0, 60, size=(count, *shape))
    labels = np.arange(count) % 10
    for image, label in zip(images, labels, strict=True):
        image[4 : 8 + label, 4:20] += 120 if name in ("fashion-mnist", "svhn") else 60
    return Dataset(images.astype(np.uint8), labels.astype(np.uint8), name, split)


@pytest.fixture(autouse=True)
def tiny_world(monkeypatch):
    for module in (inputs, clusters):
        monkeypatch.setattr(module, "load_dataset", tiny_dataset)
    clusters.cluster_labels.cache_clear()
    monkeypatch.setattr(inputs, "digits", lambda: tiny_dataset("digits").images)
    for name in ("QUICK", "FULL"):
        monkeypatch.setattr(tasks, name, TINY_SIZES)
    monkeypatch.setattr(configuration, "build_vae", partial(build_vae, widths=(2, 4), latent_size=2))
    monkeypatch.setattr(configuration.Configuration, "quick", lambda self: self)
    for module in (configuration, rows, tasks, table, figures, ablation):
        monkeypatch.setattr(module, "RECOMMENDED", TINY)
