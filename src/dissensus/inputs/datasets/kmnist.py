"""KMNIST: grey handwritten Japanese characters, 28×28 (Clanuwat et al. 2018)."""

from __future__ import annotations

from dissensus.inputs.datasets.idx_pairs import mnist_like

__all__ = ["ENTRY"]

ENTRY = mnist_like(
    "KMNIST",
    "http://codh.rois.ac.jp/kmnist/dataset/kmnist/",
    (
        "51467d22d8cc72929e2a028a0428f2086b092bb31cfb79c69cc0a90ce135fde4",
        "e38f9ebcd0f3ebcdec7fc8eabdcdaef93bb0df8ea12bee65224341c8183d8e17",
    ),
    (
        "edd7a857845ad6bb1d0ba43fe7e794d164fe2dce499a1694695a792adfac43c5",
        "20bb9a0ef54c7db3efc55a92eef5582c109615df22683c380526788f98e42a1c",
    ),
)
