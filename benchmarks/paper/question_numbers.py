"""Numbers that documents name: of the choice on clusters and what it gave, and of the likelihood ratio."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, stdev

from benchmarks.filling.registry import Number, Table
from benchmarks.paper import ratio
from benchmarks.paper.cluster_selection import cluster_grids
from benchmarks.paper.presets import CHOSEN
from benchmarks.paper.published import COLUMNS, PUBLISHED
from benchmarks.paper.table import table_rows
from benchmarks.records import Records

__all__ = ["NUMBERS", "TABLES"]

HELD_OUT = "fashion-mnist-heldout"
METHODS = {"": "BVAE1", ".BVAE2": "BVAE2"}
"""By how names go on: the variant that was chosen for, and the other."""
SHOWN = 8  # candidates; all are beside the records


def _chosen(results: Path, tell: Callable[[Sequence[float]], float], method: str) -> float:
    """AUROC on the held-out classes with the preset that was chosen on clusters."""
    found = table_rows(Records(results / "paper"))[HELD_OUT, CHOSEN, method]
    return tell([row["auroc"] for row in found.values()])


def _short(results: Path, method: str) -> float:
    """By how much that is below what the paper prints."""
    return PUBLISHED[HELD_OUT, method].auroc - _chosen(results, fmean, method)


def _clusters(results: Path) -> str:
    """The best candidates and their mean AUROC over pairs of clusters."""
    table = cluster_grids(Records(results / "paper"))[0]
    lines = [f"| {' | '.join(line[:2])} |" for line in table.lines[:SHOWN]]
    return "\n".join(["| candidate | AUROC of ESS on clusters |", "|---|---|", *lines])


def _ratio(results: Path) -> str:
    """Every form of every hypothesis on both pairs of datasets."""
    grids = ratio.ratio_grids(Records(results / "paper"))
    lines = ["| | hypothesis | form | AUROC | on made-up outliers | of the gap closed | |", "|---" * 7 + "|"]
    for benchmark, grid in zip(ratio.ASKED, grids, strict=True):
        lines += [f"| {COLUMNS[benchmark]} | {' | '.join(line)} |" for line in grid.lines]
    return "\n".join(lines)


def _contrast(results: Path, benchmark: str) -> float:
    """The rank correlation of the ratio with that of perfect models."""
    found = [each for each in Records(results / "paper").read(ratio.GROUP) if each.name == benchmark]
    return fmean(each.about["rank_correlation_with_contrast"] for each in found)


NUMBERS: Mapping[str, Number] = {
    **{
        f"{HELD_OUT}.chosen{which}.{name}": number
        for which, method in METHODS.items()
        for name, number in (
            ("auroc", partial(_chosen, tell=fmean, method=method)),
            ("spread", partial(_chosen, tell=stdev, method=method)),
            ("short", partial(_short, method=method)),
        )
    },
    **{f"ratio.{name}.contrast": partial(_contrast, benchmark=name) for name in ratio.ASKED},
}
TABLES: Mapping[str, Table] = {"clusters": _clusters, "ratio": _ratio}
