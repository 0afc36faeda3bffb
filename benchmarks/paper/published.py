"""The numbers of the paper's table 1, and which way round they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["COLUMNS", "COMPARED_WITH", "PUBLISHED", "Published"]


@dataclass(frozen=True)
class Published:
    """One method on one benchmark, as printed."""

    auroc: float
    auprc: float
    fpr80: float


COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "fashion-mnist-vs-mnist": "FashionMNIST vs MNIST",
        "svhn-vs-cifar10": "SVHN vs CIFAR10",
        "fashion-mnist-heldout": "FashionMNIST (held-out)",
    }
)
"""The table's benchmarks with their titles."""

_ROWS = {
    "BVAE1": ((0.904, 0.891, 0.117), (0.807, 0.793, 0.331), (0.693, 0.680, 0.540)),
    "BVAE2": ((0.921, 0.907, 0.082), (0.814, 0.799, 0.310), (0.683, 0.668, 0.558)),
    "LL": ((0.557, 0.564, 0.703), (0.574, 0.575, 0.634), (0.565, 0.577, 0.683)),
    "LLR": ((0.617, 0.613, 0.638), (0.570, 0.570, 0.638), (0.560, 0.569, 0.698)),
    "TT": ((0.482, 0.502, 0.833), (0.395, 0.428, 0.859), (0.482, 0.496, 0.806)),
    "WAIC": ((0.541, 0.548, 0.798), (0.293, 0.380, 0.912), (0.446, 0.464, 0.827)),
}

PUBLISHED: Mapping[tuple[str, str], Published] = MappingProxyType(
    {
        (benchmark, method): Published(*values)
        for method, row in _ROWS.items()
        for benchmark, values in zip(COLUMNS, row, strict=True)
    }
)
"""By benchmark and method."""

COMPARED_WITH = (
    "The paper does not say which class is positive in its AUPRC and FPR80; its appendix draws both ways. "
    "They are compared with auprc_out and fpr80_out, where OoD is positive: it is what the method is to "
    "find, and the first of the two ways the appendix names. The classes are balanced, as they must have "
    "been in the paper, whose AUPRC is near .5 wherever its AUROC is. The other way round is in the records."
)
"""Why the printed columns are compared with the ``_out`` metrics."""
