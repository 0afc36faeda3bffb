"""A gate on disk: a folder of JSON and safetensors, written as a whole and read with suspicion."""

from dissensus.persistence.artifact import Artifact, claim_folder, is_replaceable, write_artifact
from dissensus.persistence.files import CARD, CONFIG, HELD_OUT, OTHERS
from dissensus.persistence.reading import read_artifact

__all__ = [
    "CARD",
    "CONFIG",
    "HELD_OUT",
    "OTHERS",
    "Artifact",
    "claim_folder",
    "is_replaceable",
    "read_artifact",
    "write_artifact",
]
