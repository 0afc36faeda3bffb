"""The densities that are compared, at two sizes: one for a GPU, one for two cores.

All are densities of the 256 grey levels, so that their likelihoods can be compared: VAEs have discretised
logistic pixels, and the flow learns pixels plus uniform noise, which bounds theirs. All are drawn as
ensembles, for the samplers' steps would have to be chosen for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import torch

from benchmarks.panel.inputs import Sizes
from dissensus.models import MAF, DeepVAE, DiscretisedLogistic, GenerativeModel, PixelCNN, build_vae
from dissensus.seeding import torch_stream

__all__ = ["CANDIDATES", "FLOW", "SIZES", "Setup", "make_candidate", "setup"]

FLOW = "flow"
CANDIDATES = ("small-vae", "deep-vae", "autoregressive", FLOW)

Setup = Mapping[str, Any]

SIZES: Mapping[str, Sizes] = MappingProxyType(
    {
        "full": Sizes(
            training=10_000,
            fitting=500,
            fusing=1_000,
            calibration=2_000,
            inliers=1_500,
            outliers=600,
            test_calibration=1_000,
            made_up=150,
            first=(20_480, 4_096),
        ),
        "small": Sizes(
            training=500,
            fitting=150,
            fusing=350,
            calibration=200,
            inliers=200,
            outliers=60,
            test_calibration=200,
            made_up=30,
        ),
    }
)
"""How many pictures serve which purpose."""

_HOW: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "full": {
            "members": 4,
            "epochs": 40,
            "batch_size": 128,
            "learning_rate": 1e-3,
            "samples": 16,
            "halved": False,
        },
        "small": {
            "members": 3,
            "epochs": 24,
            "batch_size": 16,
            "learning_rate": 2e-3,
            "samples": 8,
            "halved": True,
        },
    }
)
_MODELS: Mapping[str, Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "full": {
            "small-vae": {},
            "deep-vae": {},
            "autoregressive": {},
            FLOW: {"hidden": [512, 512], "jitter": 0.01},
        },
        "small": {
            "small-vae": {"latent_size": 16, "widths": [16, 32]},
            "deep-vae": {"latents": [16, 2], "widths": [12, 16]},
            "autoregressive": {"width": 12, "dilations": [1, 2], "components": 4},
            FLOW: {"hidden": [64, 64], "jitter": 0.01},
        },
    }
)


def setup(candidate: str, size: str) -> dict[str, Any]:
    """Everything that the numbers of a candidate depend on, beside which pictures there are."""
    return {"candidate": candidate, "size": size, "model": dict(_MODELS[size][candidate]), **_HOW[size]}


def make_candidate(own: Setup, shape: Sequence[int], seed: int) -> GenerativeModel:
    """An untrained model for pictures (C, H, W); the flow takes them as rows."""
    generator, arguments = torch_stream(seed, "densities", own["candidate"]), own["model"]
    shape = tuple(shape)
    with torch.random.fork_rng(devices=[]):
        if own["candidate"] == "small-vae":
            return build_vae(shape, observation=DiscretisedLogistic(), generator=generator, **arguments)
        if own["candidate"] == "deep-vae":
            model: GenerativeModel = DeepVAE(shape, observation=DiscretisedLogistic(), **arguments)
        elif own["candidate"] == "autoregressive":
            model = PixelCNN(shape, **arguments)
        else:
            model = MAF((shape[0] * shape[1] * shape[2],), **arguments)
    model.initialise_(generator)
    return model
