"""Numbers and tables of the tables that documents name; what is not measured yet is a dash."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from statistics import fmean

from benchmarks.decimals import short
from benchmarks.filling.registry import Number, Table
from benchmarks.records import Records
from benchmarks.tables.detectors import BASE, DETECTORS, NEEDED, TITLES
from benchmarks.tables.jobs import CONTAMINATED
from benchmarks.tables.model import alone, sums
from benchmarks.tables.selection import choose_sum
from benchmarks.tables.sets import KINDS
from benchmarks.tables.summary import OnSet, differences, lines, read_sets
from benchmarks.tables.table import HEAD, contribution_lines, detector_lines, difference_lines, signed

__all__ = ["NUMBERS", "TABLES"]

MEASURES = {
    "auroc": "auroc",
    "rank": "rank",
    "false-alarms": "false_alarms",
    "seconds": "seconds",
    "errors": "errors",
    "fits": "fits",
}
OWN = "detector"
NAMED = (OWN, "bayesian-flow", BASE, "pca", "gaussian-mixture", "isolation-forest")
MODEL = "mean-ll"  # what the sum has of the model
ALONE = ("nearest", "isolation", "gaussians", "mean-ll", "kl", "std", "ess")


@cache
def _read(folder: Path, prefix: str, _changed: float) -> dict[str, dict[str, OnSet]]:
    return read_sets(Records(folder), DETECTORS, prefix=prefix, needed=NEEDED)


def _by_set(results: Path, prefix: str = "") -> dict[str, dict[str, OnSet]]:
    """Read once for all numbers, and again where a file has changed."""
    folder = results / "tables"
    changed = max((path.stat().st_mtime for path in folder.glob("*.jsonl")), default=0.0)
    return _read(folder, prefix, changed)


def _number(results: Path, kind: str | None, detector: str, measure: str, prefix: str = "") -> float:
    found = {line.detector: line for line in lines(_by_set(results, prefix), kind)}
    value = getattr(found.get(detector), measure, None)
    return math.nan if value is None else float(value)


def _sets(results: Path, kind: str, prefix: str = "") -> float:
    by_set = _by_set(results, prefix)
    return max((sum(one.kind == kind for one in sets.values()) for sets in by_set.values()), default=math.nan)


def _clean(results: Path, detector: str) -> float:
    """AUROC on the tables that are also contaminated, fitted on normal rows alone."""
    dirty, clean = _by_set(results, CONTAMINATED).get(detector), _by_set(results).get(detector)
    shared = [clean[name].auroc for name in dirty if name in clean] if dirty and clean else []
    return fmean(shared) if shared else math.nan


def _alone(results: Path, kind: str, statistic: str) -> float:
    return alone(Records(results / "tables"), statistic, kind)


def _without_model(results: Path, kind: str, what: str) -> float:
    """How often random halves of the sets leave the likelihood out of the sum, and what is gained then."""
    choice = choose_sum(Records(results / "tables"), kind)
    found = {} if choice is None else choice.chosen if what == "chosen" else choice.gains
    return found.get(f"without {MODEL}", math.nan)


def _sum(results: Path, kind: str, name: str) -> float:
    """The mean AUROC of the sum that leaves this one out."""
    own = sums(Records(results / "tables"), kind).get(name)
    return fmean(own.values()) if own else math.nan


def _table(results: Path, kind: str | None, prefix: str = "") -> str:
    return _markdown(HEAD, detector_lines(lines(_by_set(results, prefix), kind)))


def _beside(results: Path) -> str:
    """Ours beside the base, a line a kind of set."""
    by_set = _by_set(results)
    shown: list[tuple[str, ...]] = []
    for kind in KINDS:
        found = {line.detector: line for line in lines(by_set, kind)}
        if OWN in found and BASE in found:
            cells = (short(found[OWN].auroc), short(found[BASE].auroc))
            shown.append(
                (f"{_sets(results, kind):.0f} {kind}", *cells, signed(differences(by_set, OWN, BASE, kind)))
            )
    return _markdown(("", f"`{TITLES[OWN]}`", "kNN", "difference (95%)"), shown)


def _contributions(results: Path) -> str:
    return _markdown(("AUROC", *KINDS, "all"), contribution_lines(Records(results / "tables")))


def _differences(results: Path) -> str:
    return _markdown(("", *KINDS, "all"), difference_lines(_by_set(results)))


def _markdown(head: tuple[str, ...], shown: list[tuple[str, ...]]) -> str:
    shown = shown or [("not measured yet", *["–"] * (len(head) - 1))]
    first, *others = (f"| {' | '.join(line)} |" for line in (head, *shown))
    return "\n".join([first, "|---" * len(head) + "|", *others])


NUMBERS: Mapping[str, Number] = {
    **{
        f"{kind}.{detector}.{name}": partial(_number, kind=kind, detector=detector, measure=measure)
        for kind in KINDS
        for detector in NAMED
        for name, measure in MEASURES.items()
    },
    **{f"{kind}.sets": partial(_sets, kind=kind) for kind in KINDS},
    **{
        f"{kind}.alone.{name}": partial(_alone, kind=kind, statistic=name) for kind in KINDS for name in ALONE
    },
    **{
        f"{kind}.likelihood-left-out.chosen": partial(_without_model, kind=kind, what="chosen")
        for kind in KINDS
    },
    "embeddings.likelihood-left-out.gain": partial(_without_model, kind="embeddings", what="gain"),
    **{f"{kind}.sums.without-{MODEL}": partial(_sum, kind=kind, name=MODEL) for kind in KINDS},
    **{
        f"{name}.detector": partial(_number, kind=None, detector=OWN, measure=name)
        for name in ("fits", "errors")
    },
    **{
        f"contaminated.{detector}.auroc": partial(
            _number, kind=None, detector=detector, measure="auroc", prefix=CONTAMINATED
        )
        for detector in (OWN, BASE, "gaussian-mixture", "isolation-forest")
    },
    "contaminated.sets": partial(_sets, kind="tables", prefix=CONTAMINATED),
    "contaminated.clean.auroc": partial(_clean, detector=OWN),
}
TABLES: Mapping[str, Table] = {
    **{kind: partial(_table, kind=kind) for kind in KINDS},
    "beside": _beside,
    "differences": _differences,
    "contributions": _contributions,
    "contaminated": partial(_table, kind=None, prefix=CONTAMINATED),
}
