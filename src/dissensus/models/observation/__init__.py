"""Densities p(x|z,θ), one file each; ``observation(name)`` finds them."""

from dissensus.models.observation.base import ObservationModel
from dissensus.models.observation.bernoulli import Bernoulli
from dissensus.models.observation.categorical import Categorical
from dissensus.models.observation.continuous_bernoulli import ContinuousBernoulli
from dissensus.models.observation.discretised_logistic import DiscretisedLogistic
from dissensus.models.observation.gaussian import Gaussian
from dissensus.models.observation.lookup import (
    OBSERVATIONS,
    OwnObservations,
    check_observation,
    default_observation,
    observation,
    observation_from_config,
    observation_to_config,
)

__all__ = [
    "OBSERVATIONS",
    "Bernoulli",
    "Categorical",
    "ContinuousBernoulli",
    "DiscretisedLogistic",
    "Gaussian",
    "ObservationModel",
    "OwnObservations",
    "check_observation",
    "default_observation",
    "observation",
    "observation_from_config",
    "observation_to_config",
]
