"""Embedders: what turns pictures, rows, texts or anything else into vectors before a model sees them."""

from dissensus.inputs.embedders.contract import Embedder
from dissensus.inputs.embedders.registry import (
    EMBEDDERS,
    OwnEmbedders,
    check_embedder,
    embedder,
    embedder_from_config,
    embedder_to_config,
)
from dissensus.inputs.embedders.vocabulary import DIVISIONS, Vocabulary

__all__ = [
    "DIVISIONS",
    "EMBEDDERS",
    "Embedder",
    "OwnEmbedders",
    "Vocabulary",
    "check_embedder",
    "embedder",
    "embedder_from_config",
    "embedder_to_config",
]
