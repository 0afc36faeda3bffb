"""What p(x|z,θ) and q(z|x,φ) are: encoders, decoders, observation models and presets."""

from dissensus.models.build import architecture_config, build_vae, parameter_shapes, vae_from_config
from dissensus.models.contract import GenerativeModel, Inferred, LatentModel, Observed, PlainScorer, Scorer
from dissensus.models.convolutional import ConvolutionalDecoder, ConvolutionalEncoder
from dissensus.models.initialisation import initialise
from dissensus.models.mlp import MLPDecoder, MLPEncoder
from dissensus.models.observation import (
    OBSERVATIONS,
    Bernoulli,
    Categorical,
    ContinuousBernoulli,
    DiscretisedLogistic,
    Gaussian,
    ObservationModel,
    observation,
    observation_from_config,
)
from dissensus.models.presets import PRESETS, Preset, preset
from dissensus.models.vae import OBSERVED, VAE

__all__ = [
    "OBSERVATIONS",
    "OBSERVED",
    "PRESETS",
    "VAE",
    "Bernoulli",
    "Categorical",
    "ContinuousBernoulli",
    "ConvolutionalDecoder",
    "ConvolutionalEncoder",
    "DiscretisedLogistic",
    "Gaussian",
    "GenerativeModel",
    "Inferred",
    "LatentModel",
    "MLPDecoder",
    "MLPEncoder",
    "ObservationModel",
    "Observed",
    "PlainScorer",
    "Preset",
    "Scorer",
    "architecture_config",
    "build_vae",
    "initialise",
    "observation",
    "observation_from_config",
    "parameter_shapes",
    "preset",
    "vae_from_config",
]
