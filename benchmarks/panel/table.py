"""The panel's tables from its records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.decimals import short
from benchmarks.grids import Grid, quick_title
from benchmarks.panel.configuration import RECOMMENDED
from benchmarks.panel.power import COUNTS, FALSE_DISCOVERY_RATE, MIX, Power, shown_power
from benchmarks.panel.rows import NO_MODEL, Row
from benchmarks.panel.summary import Pair, Summary, at_same_places, measured_by_all, pairs, summarise
from benchmarks.panel.tasks import all_rows
from benchmarks.records import Records
from benchmarks.selection import Candidate, choose

__all__ = [
    "LEAST_WORST",
    "NOTE",
    "RULE",
    "as_candidate",
    "baseline_grid",
    "panel_grids",
    "selection_grids",
    "summary_grid",
]

NOTE = (
    "AUROC unless said otherwise. far: other datasets, noise, constants, and inverted grey images; near: "
    "held-out classes; made-up: other made-up outliers. FPR: share of outliers accepted where that share of "
    "the inliers is. BH: share of outliers that Benjamini–Hochberg finds at a false discovery rate of "
    f"{FALSE_DISCOVERY_RATE:.0%} ({MIX}), in parentheses the realised share of inliers among the flagged, "
    f"where at most 9% is expected. {COUNTS}. p ≤ .05: share of test inliers whose p-value is that small. "
    "P-values come from calibration images of the file that test inliers are from; in columns that end in "
    "“shifted”, of the file that was trained on. rank: mean over pairs of the rank by AUROC within this "
    "table."
)
LEAST_WORST = 0.95
RULE = (
    "of the candidates measured on all sets: the highest mean AUROC among those whose worst far outlier has "
    f"at least {LEAST_WORST}; where there is none, the highest worst"
)
FOUND = ("BH (false)", "p ≤ .05", "BH (false), shifted", "p ≤ .05, shifted")
WIDE = ("FPR80", "where worst", *FOUND[1:])


def panel_grids(rows: Sequence[Row], *, quick: bool) -> list[Grid]:
    """The recommended detector pair by pair; its posterior's scores; its score's posteriors; all together."""
    posterior, score = RECOMMENDED.posterior, RECOMMENDED.score
    baselines = [row for row in rows if row.posterior == NO_MODEL]
    rows = [row for row in rows if row.posterior != NO_MODEL]
    recommended = [row for row in rows if row.recommended]
    grids = []
    if recommended:
        grids.append(_pairs_grid(quick_title(f"Recommended: {posterior}, {score}", quick), recommended))
    own_posterior = [row for row in rows if row.posterior == posterior]
    if recommended and baselines:
        own = [row for row in at_same_places(baselines, own_posterior) if row.recommended]
        for title, test_file in (("Beside simple baselines", True), ("The same, shifted", False)):
            grids.append(baseline_grid(quick_title(title, quick), own, baselines, test_file=test_file))
        title = quick_title("Beside simple baselines, all pairs together", quick)
        grids.append(summary_grid(title, summarise([*own, *baselines])))
    shared = measured_by_all(rows)
    where = _places(shared)
    for title, chosen, name in (
        (f"Scores of {posterior}", own_posterior, "score"),
        (f"Posteriors under {score}, {where}", [row for row in shared if row.score == score], "posterior"),
        (f"Posteriors and scores, {where}", shared, "both"),
    ):
        # One line, or the same lines once more, say nothing.
        if len({row.posterior for row in chosen}) > (name != "score"):
            beside = at_same_places(chosen, baselines)
            grids.append(summary_grid(quick_title(title, quick), summarise([*chosen, *beside]), name))
    return grids


def baseline_grid(
    title: str, recommended: Sequence[Row], baselines: Sequence[Row], *, test_file: bool = True
) -> Grid:
    """The recommended detector and every baseline pair by pair, with the power and the error of each.

    Calibration images are of the test file, or else of the training file.
    """
    names = list(dict.fromkeys(row.score for row in baselines))
    methods = [recommended, *([row for row in baselines if row.score == name] for name in names)]
    by_title = [{pair.title: pair for pair in pairs(own, grouped=True)} for own in methods]
    lines = [
        (pair.title, pair.kind, *(_compared(found.get(pair.title), test_file) for found in by_title))
        for pair in by_title[0].values()
    ]
    return Grid(title, ("", "kind", RECOMMENDED.score, *names), tuple(lines))


def summary_grid(
    title: str, summaries: Iterable[Summary], name: str = "both", *, whole: bool = False
) -> Grid:
    """One line a posterior and score."""
    lines = []
    for each in summaries:
        both = f"{each.posterior} {each.score}".replace("+", " ")  # so that it may be broken
        label = {"score": each.score, "posterior": each.posterior}.get(name, both)
        if each.posterior == NO_MODEL:
            label = f"{each.score} ({NO_MODEL})"
        areas = (each.mean, each.far, each.worst_far, each.near, each.made_up)
        rates = (each.fpr80_in, each.fpr95_in)
        power = _found(each.test_file, each.training_file, of_many=True)
        lines.append((label, *map(short, (*areas, *rates)), *power, f"{each.rank:.1f}", each.worst_far_pair))
    head = ("", "mean", "far", "worst far", "near", "made-up", "FPR80", "FPR95", *FOUND, "rank")
    return Grid(title, (*head, "where worst"), tuple(lines), whole=whole, wide=WIDE)


def selection_grids(records: Records) -> list[Grid]:
    """The candidates, and which of them the rule chooses."""
    summaries = summarise(list(all_rows(records, "selection")))
    if not summaries:
        return []
    chosen = choose([as_candidate(each) for each in summaries], least=LEAST_WORST)
    title = f"Candidates on made-up outliers; chosen: {chosen.name}"
    return [summary_grid(quick_title(title, records.quick), summaries)]


def as_candidate(summary: Summary) -> Candidate:
    """What the rule looks at."""
    name = f"{summary.posterior}, {summary.score}"
    return Candidate(name, summary.mean, summary.pairs, summary.worst_far or 0.0)


def _pairs_grid(title: str, rows: Sequence[Row]) -> Grid:
    lines = [
        (
            pair.title,
            pair.kind,
            short(pair.auroc) + ("" if pair.spread is None else f"±{short(pair.spread)}"),
            short(pair.fpr80_in),
            short(pair.fpr95_in),
            *_found(pair.test_file, pair.training_file),
        )
        for pair in pairs(rows, grouped=True)
    ]
    return Grid(title, ("", "kind", "AUROC", "FPR80", "FPR95", *FOUND), tuple(lines), wide=("FPR80",))


def _found(test_file: Power | None, training_file: Power | None, *, of_many: bool = False) -> tuple[str, ...]:
    """The cells below :data:`FOUND`."""
    cells: list[str] = []
    for power in (test_file, training_file):
        alarms = None if power is None else power.alarms
        cells += [shown_power(power, of_many=of_many), short(alarms)]
    return tuple(cells)


def _compared(pair: Pair | None, test_file: bool) -> str:
    """As in ``.986 · .786 (.082)``: AUROC, the share found, and the share of inliers among the flagged."""
    if pair is None:
        return "–"
    return f"{short(pair.auroc)} · {shown_power(pair.test_file if test_file else pair.training_file)}"


def _places(rows: Sequence[Row]) -> str:
    """As in ``4 sets, seed 0``: what rows are of, for a title."""
    sets, seeds = len({row.inliers for row in rows}), sorted({row.seed for row in rows})
    return (
        f"{sets} {'set' if sets == 1 else 'sets'}, "
        f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}"
    )
