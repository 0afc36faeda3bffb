"""Numbers of the paper's table, as measured here, that documents name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, stdev

from benchmarks.baselines.detectors import BASELINES
from benchmarks.decimals import short
from benchmarks.filling.registry import Number, Table
from benchmarks.paper import question_numbers, selection_numbers
from benchmarks.paper.benchmarks import GROUPS
from benchmarks.paper.methods import METHODS
from benchmarks.paper.published import COLUMNS, PUBLISHED
from benchmarks.paper.table import BASELINE, table_rows
from benchmarks.records import Records

__all__ = ["NUMBERS", "TABLES"]

PRESET = "settled"
FIRST = "fashion-mnist-vs-mnist"
HELD_OUT = "fashion-mnist-heldout"
SHOWN = (
    *((method, preset) for preset in ("settled", "as-published") for method in ("BVAE1", "BVAE2")),
    *((method, "settled") for method in ("LL", "LLR", "TT", "WAIC")),
)
"""Methods and presets in the table of the documents."""
LATENT = ("BVAE1", "BVAE1-mean-D", "Annulus", "qz")
BESIDE = ("information", "norm", "kNN")
"""Of latent points, too, but not in the records of ``as-published``."""
OVER_SEEDS: Mapping[str, Callable[[Sequence[float]], float]] = {"auroc": fmean, "spread": stdev}
LATENT_OVER_SEEDS: Mapping[str, Callable[[Sequence[float]], float]] = {
    **OVER_SEEDS,
    "least": min,
    "most": max,
}


def _of_method(
    results: Path,
    tell: Callable[[Sequence[float]], float],
    benchmark: str,
    method: str,
    preset: str = PRESET,
) -> float:
    found = table_rows(Records(results / "paper"))[benchmark, preset, method]
    return tell([row["auroc"] for row in found.values()])


def _of_score(
    results: Path, tell: Callable[[Sequence[float]], float], group: str, name: str, score: str
) -> float:
    """Of a score that is not the method's own, of the same draws."""
    records = [each for each in Records(results / "paper").read(group) if each.name == name]
    return tell([row["auroc"] for record in records for row in record.rows if row["score"] == score])


def _of_score_held_out(results: Path, method: str, score: str) -> float:
    """The same, over the splits of the held-out classes."""
    name = f"{PRESET}/{method}"
    return fmean(_of_score(results, fmean, split, name, score) for split in GROUPS[HELD_OUT])


def _published(_: Path, benchmark: str, method: str) -> float:
    return PUBLISHED[benchmark, method].auroc


def _table(results: Path) -> str:
    """AUROC of every method over seeds, and the paper's; the samplers with both presets."""
    found = table_rows(Records(results / "paper"))
    lines = [f"| | {' | '.join(COLUMNS.values())} |", "|---" * (1 + len(COLUMNS)) + "|"]
    for method, preset in SHOWN:
        sampled = method.startswith("BVAE")
        cells = [f"{METHODS[method].label}{f', `{preset}`' if sampled else ''}"]
        for benchmark in COLUMNS:
            areas = [row["auroc"] for row in found[benchmark, preset, method].values()]
            published = short(PUBLISHED[benchmark, method].auroc)
            cells.append(f"{short(fmean(areas))} ± {short(stdev(areas))} ({published})")
        lines.append(f"| {' | '.join(cells)} |")
    for name in BASELINES:
        cells = [f"{name} (no model)"]
        for benchmark in COLUMNS:
            areas = [row["auroc"] for row in found[benchmark, BASELINE, name].values()]
            cells.append(f"{short(fmean(areas))} ± {short(stdev(areas))}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _baselines(results: Path) -> str:
    """AUROC ± spread, AUPRC and FPR80 of what needs no network, the best in bold; below, the paper's best."""
    found = table_rows(Records(results / "paper"))
    lines = [f"| AUROC, AUPRC, FPR80 | {' | '.join(COLUMNS.values())} |", "|---" * (1 + len(COLUMNS)) + "|"]
    areas = {
        (benchmark, name): [row["auroc"] for row in found[benchmark, BASELINE, name].values()]
        for benchmark in COLUMNS
        for name in BASELINES
    }
    for name in BASELINES:
        cells = [f"`{name}`"]
        for benchmark in COLUMNS:
            own = areas[benchmark, name]
            best = max(fmean(areas[benchmark, other]) for other in BASELINES) == fmean(own)
            area = f"**{short(fmean(own))}**" if best else short(fmean(own))
            rest = (
                short(fmean(row[metric] for row in found[benchmark, BASELINE, name].values()))
                for metric in ("auprc_out", "fpr80_out")
            )
            cells.append(", ".join([f"{area}±{short(stdev(own))}", *rest]))
        lines.append(f"| {' | '.join(cells)} |")
    printed = [
        max((PUBLISHED[benchmark, name] for name in ("BVAE1", "BVAE2")), key=lambda each: each.auroc)
        for benchmark in COLUMNS
    ]
    cells = [", ".join(map(short, (each.auroc, each.auprc, each.fpr80))) for each in printed]
    return "\n".join([*lines, f"| the paper's better variant | {' | '.join(cells)} |"])


def _splits(results: Path) -> str:
    """AUROC on each split of the held-out classes, of all methods and of what needs no network."""
    found = table_rows(Records(results / "paper"))
    columns = {METHODS[method].label: (PRESET, method) for method, _ in SHOWN}
    columns |= {f"`{name}`": (BASELINE, name) for name in BASELINES}
    lines = [f"| classes held out | {' | '.join(columns)} |", "|---" * (1 + len(columns)) + "|"]
    for split in GROUPS[HELD_OUT]:
        own = [fmean(row["auroc"] for row in found[split, *column].values()) for column in columns.values()]
        cells = [f"**{short(area)}**" if area == max(own) else short(area) for area in own]
        lines.append(f"| {' and '.join(split[-2:])} | {' | '.join(cells)} |")
    return "\n".join(lines)


NUMBERS: Mapping[str, Number] = {
    **{
        f"{benchmark}.{method}.{name}": partial(_of_method, tell=tell, benchmark=benchmark, method=method)
        for benchmark in COLUMNS
        for method in METHODS
        for name, tell in OVER_SEEDS.items()
    },
    **{
        f"{benchmark}.{method}.published": partial(_published, benchmark=benchmark, method=method)
        for benchmark in COLUMNS
        for method in METHODS
    },
    **{
        f"{FIRST}.{method}.{score}.{name}": partial(
            _of_score, tell=tell, group=FIRST, name=f"{PRESET}/{method}", score=score
        )
        for method in ("BVAE1", "BVAE2")
        for score in ("kl", "std")
        for name, tell in OVER_SEEDS.items()
    },
    **{
        f"{HELD_OUT}.{method}.kl.auroc": partial(_of_score_held_out, method=method, score="kl")
        for method in ("BVAE1", "BVAE2")
    },
    **{
        f"{HELD_OUT}.{baseline}.{name}": partial(
            _of_method, tell=tell, benchmark=HELD_OUT, method=baseline, preset=BASELINE
        )
        for baseline in BASELINES
        for name, tell in OVER_SEEDS.items()
    },
    **{
        f"latent.{which}{score}.{name}": partial(
            _of_score, tell=tell, group="latent", name=preset, score=score
        )
        for which, preset, scores in (
            ("", PRESET, (*LATENT, *BESIDE)),
            ("as-published.", "as-published", LATENT),
            ("shared-encoder.", f"{PRESET}-shared-encoder", (*LATENT, *BESIDE)),
        )
        for score in scores
        for name, tell in LATENT_OVER_SEEDS.items()
    },
    **selection_numbers.NUMBERS,
    **question_numbers.NUMBERS,
}
TABLES: Mapping[str, Table] = {
    "auroc": _table,
    "baselines": _baselines,
    "splits": _splits,
    **selection_numbers.TABLES,
    **question_numbers.TABLES,
}
