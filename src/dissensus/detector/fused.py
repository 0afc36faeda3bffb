"""What the fused statistic is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dissensus.errors import ArtifactError
from dissensus.inputs import statistic_names_without_model
from dissensus.models import OBSERVED
from dissensus.scores import SCORES, SUM, Fused

__all__ = ["fused_from_config", "fused_score", "fused_statistics", "fused_to_config"]

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
DEPTH, LEADING = "mixture", ("corrected-ll",)

# A density of many statistics takes inliers to learn: fitted on fewer than these, it is noise. The two were
# chosen by the mean AUROC of such sums over 40 tables and sets of embeddings with at most 250 inliers.
FEW = 300
FEW_LEADING = ("mixture-ll", "corrected-ll")


def fused_statistics(shape: Sequence[int]) -> tuple[str, ...]:
    """What is fused for inputs (H, W, C) or (D,) where there are inliers enough to learn from."""
    return (*PARTS, *statistic_names_without_model(shape))


def fused_score(shape: Sequence[int], *, inliers: int) -> Fused:
    """The recommended fusion for inputs (H, W, C) or (D,), to be fitted on so many inliers."""
    if inliers >= FEW:
        return Fused(fused_statistics(shape), depth=DEPTH, leading=LEADING)
    return Fused((*FEW_LEADING, *statistic_names_without_model(shape)), depth=SUM, leading=FEW_LEADING)


def fused_to_config(fused: Fused) -> dict[str, Any]:
    """Its parts as JSON values, for a later version may recommend others."""
    return {
        "statistics": list(fused.statistics),
        "depth": fused.fusion.depth,
        "leading": list(fused.fusion.leading),
    }


def fused_from_config(config: Mapping[str, Any], shape: Sequence[int]) -> Fused:
    """The inverse, for a detector of inputs (H, W, C) or (D,)."""
    names: Sequence[Any] = config["statistics"]
    known = {*SCORES, *OBSERVED, *fused_statistics(shape)}
    unknown = [name for name in names if not isinstance(name, str) or name not in known]
    if unknown:
        raise ArtifactError(
            f"it fuses {str(unknown[0])[:99]!r}, which is no statistic of such inputs here: upgrade dissensus"
        )
    return Fused(names, depth=config["depth"], leading=config["leading"])
