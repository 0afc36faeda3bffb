"""The variational autoencoder: nothing outside this folder knows of its encoder and its decoder."""

from dissensus.models.vae.build import architecture_config, build_vae, vae_from_config
from dissensus.models.vae.convolutional import ConvolutionalDecoder, ConvolutionalEncoder
from dissensus.models.vae.deep import DeepVAE
from dissensus.models.vae.mlp import MLPDecoder, MLPEncoder
from dissensus.models.vae.model import OBSERVED, VAE
from dissensus.models.vae.presets import PAPER_TRAINING, PRESETS, Preset, preset
from dissensus.models.vae.regret import likelihood_regret

__all__ = [
    "OBSERVED",
    "PAPER_TRAINING",
    "PRESETS",
    "VAE",
    "ConvolutionalDecoder",
    "ConvolutionalEncoder",
    "DeepVAE",
    "MLPDecoder",
    "MLPEncoder",
    "Preset",
    "architecture_config",
    "build_vae",
    "likelihood_regret",
    "preset",
    "vae_from_config",
]
