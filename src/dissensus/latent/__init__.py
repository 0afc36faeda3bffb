"""Is a point z of a latent space unlike the data? Measures of that; higher = more unusual."""

from dissensus.latent.aggregated_posterior import aggregated_posterior
from dissensus.latent.annulus import annulus
from dissensus.latent.codes import LATENT_CODES, MOST_HELD_OUT, MOST_TRAINING, LatentCodes
from dissensus.latent.disagreement import expected_disagreement
from dissensus.latent.mixture import mixture_samples
from dissensus.latent.one_space import shared_space
from dissensus.latent.space import Form, LatentSpace

__all__ = [
    "LATENT_CODES",
    "MOST_HELD_OUT",
    "MOST_TRAINING",
    "Form",
    "LatentCodes",
    "LatentSpace",
    "aggregated_posterior",
    "annulus",
    "expected_disagreement",
    "mixture_samples",
    "shared_space",
]
