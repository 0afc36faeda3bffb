"""Table 1 from records, ours beside the paper's with the difference, and the candidates for a preset."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, TypeAlias

from benchmarks.baselines.measure import PREFIX
from benchmarks.decimals import short
from benchmarks.grids import Grid, mean_and_spread, quick_title
from benchmarks.paper.benchmarks import BENCHMARKS, GROUPS
from benchmarks.paper.latent import GROUP as LATENT
from benchmarks.paper.methods import METHODS
from benchmarks.paper.presets import PRESETS, measured_everywhere
from benchmarks.paper.published import COLUMNS, PUBLISHED
from benchmarks.paper.tasks import selection_group
from benchmarks.records import Record, Records
from benchmarks.selection import Candidate, choose

__all__ = [
    "LATENT_NOTE",
    "METRICS",
    "NOTE",
    "SELECTION_NOTE",
    "latent_grids",
    "selection_grids",
    "table_grids",
    "table_rows",
]

Row: TypeAlias = Mapping[str, Any]

BASELINE = PREFIX.removesuffix("/")
"""Stands where the preset does in the names of their records."""
WITHOUT_MODEL = {
    "nearest-neighbour": "kNN",
    "gaussian-mixture": "GMM",
    "isolation-forest": "IF",
    "image-statistics": "image",
}
NOTE = (
    "Ours (± standard deviation over seeds), then the paper's and the difference. Last, without any model: "
    "the 5th nearest neighbour, a Gaussian mixture, an isolation forest, and statistics of the images alone."
)
LATENT_NOTE = (
    "Points that classifiers disagree on least are in-distribution; mean ± standard deviation over seeds. "
    "BVAE1 is the expected −log(1 − 1/D), which never ties; with mean-D the paper's own, the expected D. "
    "Out-of-distribution is the positive class of AUPRC and FPR80."
)
SELECTION_NOTE = (
    "Mean log-likelihood of validation images in nats, of single draws and of their mixture; what importance "
    "sampling adds by chance to one, in theory and by another noise; how far draws are apart. Chosen is the "
    "highest of single draws; no test image was read."
)
METRICS = {
    "auroc": ("auroc", "AUROC ↑"),
    "auprc_out": ("auprc", "AUPRC ↑"),
    "fpr80_out": ("fpr80", "FPR80 ↓"),
}
"""Ours, by what the paper calls it and how a column is headed."""


def table_rows(records: Records) -> dict[tuple[str, str, str], dict[int | None, Row]]:
    """The numbers by benchmark, preset and method, and by seed.

    A group of benchmarks has the mean of its members, for seeds with which all of them were measured.
    """
    found: dict[tuple[str, str, str], dict[int | None, Row]] = {}
    for benchmark in BENCHMARKS:
        for record in records.read(benchmark):
            preset, _, method = record.name.partition("/")
            found.setdefault((benchmark, preset, method), {})[record.seed] = record.rows[0]
    methods = {(preset, method) for _, preset, method in found}
    for group, members in GROUPS.items():
        for preset, method in methods:
            own = [found.get((member, preset, method), {}) for member in members]
            for seed in own[0]:
                if all(seed in each for each in own):
                    mean = {name: fmean(each[seed][name] for each in own) for name in METRICS}
                    found.setdefault((group, preset, method), {})[seed] = mean
    return found


def table_grids(records: Records) -> list[Grid]:
    """A table for each preset and benchmark, narrow enough for 80 columns; simple baselines come last."""
    found, grids = table_rows(records), []
    head = ("", *(word for _, title in METRICS.values() for word in (title, "paper", "Δ")))
    for preset, (benchmark, title) in itertools.product(PRESETS, COLUMNS.items()):
        lines = [
            (each.label, *_words(found.get((benchmark, preset, name), {}), benchmark, name))
            for name, each in METHODS.items()
            if preset in measured_everywhere() or (benchmark, preset, name) in found
        ]
        if any(set(line[1:]) != {"–"} for line in lines):
            lines += [
                (label, *_words(found[benchmark, BASELINE, name], benchmark, name))
                for name, label in WITHOUT_MODEL.items()
                if (benchmark, BASELINE, name) in found
            ]
            named = quick_title(f"Table 1, {preset}: {title}", records.quick)
            grids.append(Grid(named, head, tuple(lines)))
    return grids


def _words(by_seed: Mapping[int | None, Row], benchmark: str, method: str) -> Iterator[str]:
    for metric, (printed, _) in METRICS.items():
        values = [row[metric] for row in by_seed.values()]
        if not values:
            yield from ("–", "–", "–")
        elif (benchmark, method) in PUBLISHED:
            published = getattr(PUBLISHED[benchmark, method], printed)
            yield from (mean_and_spread(values), short(published), _signed(fmean(values) - published))
        else:
            yield from (mean_and_spread(values), "", "")


def _signed(difference: float) -> str:
    """As in +.012."""
    return f"{difference:+.3f}".replace("0.", ".", 1)


def latent_grids(records: Records) -> list[Grid]:
    """The latent-space benchmark, a table a preset; the paper has no numbers of it."""
    found: dict[str, dict[str, list[Row]]] = {}
    for record in records.read(LATENT):
        for row in record.rows:
            found.setdefault(record.name, {}).setdefault(row["score"], []).append(row)
    head = ("", *(title for _, title in METRICS.values()))
    return [
        Grid(
            quick_title(f"Latent space, {preset}", records.quick),
            head,
            tuple(
                (score, *(mean_and_spread([row[metric] for row in rows]) for metric in METRICS))
                for score, rows in scores.items()
            ),
        )
        for preset, scores in found.items()
    ]


def selection_grids(records: Records) -> list[Grid]:
    """Candidates by benchmark and variant, the best validation likelihood first; the best is chosen."""
    grids = []
    for benchmark in BENCHMARKS:
        runs: dict[str, dict[str, list[Record]]] = {}
        for record in records.read(selection_group(benchmark)):
            name, run = record.name.rsplit("/", 1)
            runs.setdefault(run, {}).setdefault(name, []).append(record)
        for run, found in runs.items():
            measured = {name: [row for each in own for row in each.rows] for name, own in found.items()}
            compared = [
                Candidate(name, fmean(row["validation_log_likelihood"] for row in rows), len(rows))
                for name, rows in measured.items()
                if rows
            ]
            best = choose(compared).name if compared else None
            ranked = [each.name for each in sorted(compared, key=lambda each: -each.value)]
            lines = [
                (_title(name) + " (chosen)" * (name == best), *_numbers(measured[name])) for name in ranked
            ]
            lines += [(_title(name), *("diverged",) * len(_NUMBERS)) for name in found if not measured[name]]
            title = quick_title(f"Candidates, {benchmark}, {run}", records.quick)
            grids.append(Grid(title, ("", *_NUMBERS.values()), tuple(lines)))
    return grids


_NUMBERS = {
    "validation_log_likelihood": "log p",
    "validation_log_likelihood_of_mixture": "of mixture",
    "rhat": "R̂",
    "importance_sampling_error": "error",
    "noise_floor": "noise floor",
    "spread_over_draws": "spread",
}


def _title(name: str) -> str:
    return name.replace("+", " ")  # so that it may be broken


def _numbers(rows: Sequence[Mapping[str, float | None]]) -> Iterator[str]:
    for name in _NUMBERS:
        values = [value for row in rows if (value := row[name]) is not None]
        yield f"{fmean(values):.2f}" if values else "–"
