"""Tables of the panel that documents show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.decimals import short
from benchmarks.filling.registry import Table
from benchmarks.panel.power import mean_power, shown_power
from benchmarks.panel.recorded import SHOWN, pairs_of, rows_of
from benchmarks.panel.rows import NO_MODEL
from benchmarks.panel.summary import Pair, pairs
from benchmarks.paper.published import PUBLISHED

__all__ = ["TABLES"]

ASKED = {
    "fashion-mnist → mnist": 0.998,
    "svhn → cifar10": 0.99,
    "mnist → fashion-mnist": 0.999,
    "cifar10 → svhn": 0.95,
    "fashion-mnist-heldout → held-out classes": 0.75,
    "worst far outlier of the panel": 0.95,
}
"""The goals for AUROC."""
IN_THE_PAPER = {
    "fashion-mnist → mnist": "fashion-mnist-vs-mnist",
    "svhn → cifar10": "svhn-vs-cifar10",
    "fashion-mnist-heldout → held-out classes": "fashion-mnist-heldout",
}
FOUND_HEAD = (
    "| | `fused` (default) | asked | the paper | ESS | KL | plain likelihood | no model (`fused-images`) |"
)
POSTERIORS = ("sghmc", "sghmc-variant-2", "cyclical-sghmc", "sgld", "ensemble", "swag", "variational")
COMPARED = (
    "fashion-mnist → mnist",
    "svhn → cifar10",
    "cifar10 → svhn",
    "fashion-mnist-heldout → held-out classes",
)
POSTERIOR_HEAD = (
    "| | Fashion → MNIST | SVHN → CIFAR-10 | found (false) | found (false), shifted | CIFAR-10 → SVHN "
    "| held-out classes | mean of {pairs} pairs | worst far "
    "| ESS: Fashion → MNIST, SVHN → CIFAR-10, held-out | `whitened`: the same |"
)


def _beside(results: Path) -> str:
    """As in ``.986 · .79 (.083)``: AUROC, power, and the realised share of false discoveries."""
    methods = ("dissensus", "no-model", "neighbours")
    found = {name: {pair.title: [pair] for pair in pairs_of(results, name)} for name in methods}
    every = {name: pairs_of(results, name, grouped=False) for name in methods}
    assert len({len(own) for own in every.values()}) == 1, "they were measured on different pairs"
    lines = ["| learnt → asked about | dissensus | no model | neighbours |", "|---|---|---|---|"]
    lines += [_line(shown, [found[name][title] for name in methods]) for title, shown in SHOWN.items()]
    count = len(every["dissensus"])
    return "\n".join([*lines, _line(f"mean of all {count} pairs", [every[name] for name in methods])])


def _baselines(results: Path) -> str:
    """The same for every baseline, and each one's worst far outlier."""
    rows = rows_of(results)
    names = list(dict.fromkeys(row.score for row in rows if row.posterior == NO_MODEL))
    methods = [
        [row for row in rows if row.recommended],
        *([row for row in rows if (row.posterior, row.score) == (NO_MODEL, name)] for name in names),
    ]
    found = [{pair.title: [pair] for pair in pairs(own, grouped=True)} for own in methods]
    every = [pairs(own) for own in methods]
    heads = " | ".join([*(f"`{name}`" for name in ("fused", *names)), "`fused`, shifted"])
    lines = [f"| | {heads} |", "|---" * (2 + len(methods)) + "|"]
    lines += [_line(shown, [own[title] for own in found], found[0][title]) for title, shown in SHOWN.items()]
    lines.append(_line(f"mean of all {len(every[0])} pairs", every, every[0]))
    worst = [short(_worst_far(own)) for own in every]
    return "\n".join([*lines, f"| worst far outlier of the panel | {' | '.join(worst)} | |"])


def _found(results: Path) -> str:
    """The recommended detector beside what was asked, in bold where that is reached, and beside others."""
    methods = ("dissensus", "ess", "kl", "likelihood", "no-model")
    found = {name: {pair.title: pair.auroc for pair in pairs_of(results, name)} for name in methods}
    lines = [FOUND_HEAD, "|---" * 8 + "|"]
    for title, asked in ASKED.items():
        paper = IN_THE_PAPER.get(title)
        published = [PUBLISHED[paper, name].auroc for name in ("BVAE1", "BVAE2")] if paper else []
        values = [
            found[name][title] if title in SHOWN else _worst_far(pairs_of(results, name)) for name in methods
        ]
        own, *others = map(short, values)
        cells = (
            f"**{own}**" if values[0] >= asked else own,
            f"{asked:g}".removeprefix("0"),
            short(max(published)) if published else "–",
            *others,
        )
        lines.append(f"| {' | '.join([SHOWN.get(title, title), *cells])} |")
    return "\n".join(lines)


def _line(shown: str, cells: Sequence[Sequence[Pair]], *shifted: Sequence[Pair]) -> str:
    """A cell for each method, and more for methods whose calibration images are of the training file."""
    words = [f"{short(fmean(pair.auroc for pair in own))} · {_power(own)}" for own in cells]
    return f"| {' | '.join([shown, *words, *(_power(own, test_file=False) for own in shifted)])} |"


def _power(own: Sequence[Pair], *, test_file: bool = True) -> str:
    """Of a pair, or the mean of those that count."""
    powers = [pair.test_file if test_file else pair.training_file for pair in own]
    return shown_power(mean_power(powers, counted=len(own) > 1), 2, of_many=len(own) > 1)


def _posteriors(results: Path) -> str:
    """Every posterior with one seed: AUROC of ``fused``, and of scores that depend on the posterior most."""
    every = [row for row in rows_of(results) if row.seed == 0]
    lines = []
    for name in POSTERIORS:
        rows = [row for row in every if row.posterior == name]
        found = {(pair.score, pair.title): pair for pair in pairs(rows, grouped=True)}
        own = pairs(row for row in rows if row.score == "fused")
        first, second, third, held_out = (found["fused", title] for title in COMPARED)
        others = (
            ", ".join(short(found[score, COMPARED[place]].auroc) for place in (0, 1, 3))
            for score in ("ess", "whitened")
        )
        cells = (
            name,
            short(first.auroc),
            short(second.auroc),
            shown_power(second.test_file),
            shown_power(second.training_file),
            short(third.auroc),
            short(held_out.auroc),
            short(fmean(pair.auroc for pair in own)),
            short(_worst_far(own)),
            *others,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([POSTERIOR_HEAD.format(pairs=len(own)), "|---" * 11 + "|", *lines])


def _worst_far(own: Sequence[Pair]) -> float:
    return min(pair.auroc for pair in own if pair.kind == "far")


TABLES: Mapping[str, Table] = {
    "beside": _beside,
    "found": _found,
    "baselines": _baselines,
    "posteriors": _posteriors,
}
