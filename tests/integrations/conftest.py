"""Skips what needs a package that is not there; ``make test-integrations`` makes an environment with all."""

import sys
from importlib.util import find_spec
from unittest.mock import MagicMock

import numpy as np
import pytest

from dissensus import BayesianVAE

SMALL = {"epochs": 20, "draws": 4, "samples": 4, "false_alarm_rate": 0.1, "device": "cpu"}

# pytorch-ood imports torchvision for its data sets, which no detector needs. Its published wheels load only
# beside a torch with CUDA, so that on other machines a stand-in takes its place.
if find_spec("pytorch_ood") and not find_spec("torchvision"):
    for module in ("", ".datasets", ".datasets.folder", ".datasets.utils", ".models", ".transforms"):
        sys.modules[f"torchvision{module}"] = MagicMock()
    for module in (".transforms.functional", ".models.detection", ".models.resnet"):
        sys.modules[f"torchvision{module}"] = MagicMock()


@pytest.fixture(scope="session")
def inliers():
    return np.random.default_rng(0).normal(size=(300, 3))


@pytest.fixture(scope="session")
def outliers():
    return np.random.default_rng(1).normal(size=(20, 3)) * 3 + 40


@pytest.fixture
def unfitted():
    return BayesianVAE(**SMALL)


@pytest.fixture(scope="session")
def gate(inliers):
    return BayesianVAE(**SMALL).fit(inliers)
