"""What the fused statistic is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dissensus.errors import ArtifactError
from dissensus.likelihood import STATISTICS
from dissensus.scores import SCORES, Fused

__all__ = ["CODE_LENGTH", "fused_from_config", "fused_score", "fused_to_config"]

CODE_LENGTH = "code-length"

PARTS = (
    "whitened",
    "corrected-ll",
    "kl",
    "mean-ll",
    "latent-norm",
    "latent-scale",
    "reconstruction",
    "reconstruction-spread",
    "pixel-variance",
)
OF_IMAGES = (CODE_LENGTH,)  # the code of a row of numbers is mostly the noise in their last digits
DEPTH, LEADING = "mixture", ("whitened", "corrected-ll")


def fused_score(*, images: bool) -> Fused:
    """The recommended fusion, to be fitted."""
    return Fused((*PARTS, *OF_IMAGES) if images else PARTS, depth=DEPTH, leading=LEADING)


def fused_to_config(fused: Fused) -> dict[str, Any]:
    """Its parts as JSON values, for a later version may recommend others."""
    return {
        "statistics": list(fused.statistics),
        "depth": fused.fusion.depth,
        "leading": list(fused.fusion.leading),
    }


def fused_from_config(config: Mapping[str, Any], *, images: bool) -> Fused:
    """The inverse, for a detector of images or of rows."""
    names: Sequence[Any] = config["statistics"]
    known = {*SCORES, *STATISTICS} | (set(OF_IMAGES) if images else set())
    unknown = [name for name in names if not isinstance(name, str) or name not in known]
    if unknown:
        raise ArtifactError(
            f"it fuses {str(unknown[0])[:99]!r}, which is no statistic of such inputs here: upgrade dissensus"
        )
    return Fused(names, depth=config["depth"], leading=config["leading"])
