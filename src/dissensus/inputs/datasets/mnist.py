"""MNIST: grey handwritten digits, 28×28 (LeCun et al. 1998)."""

from __future__ import annotations

from dissensus.inputs.datasets.idx_pairs import mnist_like

__all__ = ["ENTRY"]

ENTRY = mnist_like(
    "MNIST",
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    (
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    ),
    (
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    ),
)
