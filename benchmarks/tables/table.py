"""The tables of the tables, from records alone."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.decimals import short
from benchmarks.grids import Grid, quick_title
from benchmarks.records import Records
from benchmarks.tables.detectors import BASE, DETECTORS, NEEDED, OURS, TITLES
from benchmarks.tables.jobs import CONTAMINATED
from benchmarks.tables.model import contributions
from benchmarks.tables.sets import KINDS
from benchmarks.tables.summary import (
    BySet,
    Line,
    Mean,
    differences,
    incomplete,
    left_out,
    lines,
    mixed,
    read_sets,
)

__all__ = [
    "NOTE",
    "contribution_lines",
    "detector_lines",
    "difference_lines",
    "signed",
    "table_grids",
    "table_note",
]

HEAD = ("", "AUROC", "average precision", "mean rank", "false alarms", "seconds", "errors")
NOTE = (
    "Half of the different normal rows are fitted on, the other half and all anomalies are asked about. "
    "Means are over sets, of each the mean over seeds; ranks are by AUROC, 1 the best. A fit that ends in an "
    "error counts as chance, and its set has the worst rank. False alarms: normal test rows with a conformal "
    "p-value of at most 5%, on sets with enough rows to calibrate. All detectors calibrate on the same "
    "rows; those that do not hold rows out themselves are fitted a second time without them, for this number "
    "alone. Seconds to fit and to score, on one core."
)


def table_grids(records: Records) -> list[Grid]:
    """One table a kind of set, the differences to the neighbours, and the contaminated tables."""
    by_set = read_sets(records, DETECTORS, needed=NEEDED)
    grids = []
    for kind in KINDS:
        if found := lines(by_set, kind):
            grids.append(_grid(f"{_sets(by_set, kind)} {kind}, {_fits(found)}", found, records))
    if compared := difference_lines(by_set):
        title = f"AUROC minus that of {TITLES[BASE]}, and the 95% bootstrap interval over sets"
        grids.append(Grid(quick_title(title, records.quick), ("", *KINDS, "all"), tuple(compared)))
    if parts := contribution_lines(records):
        title = "What each statistic adds to the sum, and disagreement beside likelihood"
        grids.append(Grid(quick_title(title, records.quick), ("AUROC", *KINDS, "all"), tuple(parts)))
    dirty = read_sets(records, DETECTORS, prefix=CONTAMINATED, needed=NEEDED)
    if found := lines(dirty):
        title = f"{_sets(dirty, 'tables')} tables fitted with 5 to 10% anomalies, {_fits(found)}"
        grids.append(_grid(title, found, records))
    return grids


def table_note(records: Records) -> str:
    """What the tables mean, and what is wrong with the records."""
    said = [NOTE]
    if missing := left_out(records, DETECTORS, needed=NEEDED):
        titles = " and ".join(TITLES[name] for name in NEEDED)
        said.append(f"Not measured with {titles} yet, and left out: {', '.join(missing)}.")
    for prefix, where in (("", "all of these sets and seeds"), (CONTAMINATED, "all contaminated tables")):
        if few := incomplete(records, DETECTORS, prefix=prefix, needed=NEEDED):
            titles = ", ".join(TITLES[name] for name in few)
            said.append(f"Not measured on {where} yet, and not shown: {titles}.")
    older = [name for prefix in ("", CONTAMINATED) for name in mixed(records, DETECTORS, prefix=prefix)]
    if older:
        titles = ", ".join(dict.fromkeys(TITLES[name] for name in older))
        said.append(f"Records of several settings, to be measured again: {titles}.")
    return " ".join(said)


def detector_lines(found: Sequence[Line]) -> list[tuple[str, ...]]:
    """As words."""
    return [
        (
            TITLES[line.detector],
            short(line.auroc),
            short(line.average_precision),
            f"{line.rank:.1f}",
            "–" if line.false_alarms is None else f"{line.false_alarms:.1%}",
            "–" if line.seconds is None else f"{line.seconds:.1f}",
            str(line.errors),
        )
        for line in found
    ]


def difference_lines(by_set: BySet) -> list[tuple[str, ...]]:
    """Each of ours minus the base, by kind and on all sets."""
    found = []
    for name in OURS:
        means = [differences(by_set, name, BASE, kind) for kind in (*KINDS, None)]
        if any(mean is not None for mean in means):
            found.append((TITLES[name], *map(signed, means)))
    return found


def contribution_lines(records: Records) -> list[tuple[str, ...]]:
    """What each statistic adds to the sum, and disagreement alone minus likelihood alone."""
    by_kind = [contributions(records, kind) for kind in (*KINDS, None)]
    return [(label, *(signed(found.get(label)) for found in by_kind)) for label in by_kind[-1]]


def signed(mean: Mean | None) -> str:
    """As in ``−.012 (−.030 to +.006)``.

    >>> signed(Mean(-0.012, -0.03, 0.006)), signed(None)
    ('−.012 (−.030 to +.006)', '–')
    """
    if mean is None:
        return "–"
    value, low, high = (("−" if each < 0 else "+") + short(abs(each)) for each in mean)
    return f"{value} ({low} to {high})"


def _grid(title: str, found: Sequence[Line], records: Records) -> Grid:
    return Grid(
        quick_title(title, records.quick), HEAD, tuple(detector_lines(found)), wide=("average precision",)
    )


def _sets(by_set: BySet, kind: str) -> int:
    return max(sum(one.kind == kind for one in sets.values()) for sets in by_set.values())


def _fits(found: Sequence[Line]) -> str:
    return f"{found[0].fits} fits of each detector"
