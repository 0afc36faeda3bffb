"""A gate on disk: a folder of JSON and safetensors, written as a whole and believed only as far as it shows."""

from dissensus.persistence.artifact import (
    CARD,
    CONFIG,
    OTHERS,
    Artifact,
    claim_folder,
    is_replaceable,
    read_artifact,
    write_artifact,
)

__all__ = [
    "CARD",
    "CONFIG",
    "OTHERS",
    "Artifact",
    "claim_folder",
    "is_replaceable",
    "read_artifact",
    "write_artifact",
]
