"""Does what is chosen on some sets carry over to others? Candidates by random halves of the sets.

In every division the candidate with the highest mean AUROC on one half is chosen, and what it gains over
the default is seen on the other half, which had no part in the choice. The rule: of the default and of those
that gain on the other halves, in the mean over the divisions in which they are chosen, the one that is chosen
most often. One that owes its mean to a few sets loses where these are not. No set is ever looked at alone.

What the score of rows adds up is chosen in the same way, for tables and for embeddings by themselves, from
the records of the default: the sum of all four statistics, or one that leaves one of them out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from benchmarks.decimals import short
from benchmarks.grids import Grid, quick_title
from benchmarks.records import Records
from benchmarks.tables.candidates import DEFAULT
from benchmarks.tables.model import ALL, sums
from benchmarks.tables.sets import KINDS
from benchmarks.tables.summary import BySet, Mean, OnSet, bootstrap, read_sets
from benchmarks.tables.table import signed
from dissensus.errors import SettingsError
from dissensus.seeding import numpy_stream

__all__ = ["SELECTION_NOTE", "Choice", "choose_by_halves", "choose_sum", "selection_grids", "sum_grids"]

DIVISIONS = 1_000
SELECTION_NOTE = (
    f"{DIVISIONS:,} random halves of the sets, of tables and of embeddings alike. Chosen: how often the "
    "candidate has the highest mean AUROC on a half; gain there: what it then has more than the default on "
    "the other half. Minus the default: on all sets, with the bootstrap interval over sets. The rule is in "
    "benchmarks/tables/selection.py."
)


@dataclass(frozen=True)
class Choice:
    """What random halves of the sets say."""

    chosen: Mapping[str, float]
    """How often each candidate was chosen, as a share of the divisions."""
    gains: Mapping[str, float]
    """Of those that were chosen: mean AUROC on the other halves then, minus that of the default there."""
    best: float
    """How often the chosen one was the best on the other half too."""
    gain: float
    """The same of whatever was chosen, over all divisions."""
    winner: str
    """By the rule."""


def choose_by_halves(by_set: BySet, *, divisions: int = DIVISIONS, seed: int = 0) -> Choice:
    """Divide the sets many times, each kind for itself, and choose on one half."""
    names = list(by_set)
    if DEFAULT not in names:
        raise SettingsError(f"the default ({DEFAULT}) is not measured on the sets that candidates are")
    sets = list(by_set[DEFAULT])
    areas = np.array([[by_set[name][each].auroc for each in sets] for name in names])
    kinds = [[at for at, each in enumerate(sets) if by_set[DEFAULT][each].kind == kind] for kind in KINDS]
    if not any(len(own) >= 2 for own in kinds):
        raise SettingsError("there are too few sets to divide: at least two of a kind")
    default, random = names.index(DEFAULT), numpy_stream(seed, "divisions")
    gains: dict[str, list[float]] = {name: [] for name in names}
    right = 0
    for _ in range(divisions):
        one, other = _halves(kinds, random)
        pick = int(areas[:, one].mean(axis=1).argmax())
        unseen = areas[:, other].mean(axis=1)
        right += bool(unseen[pick] == unseen.max())
        gains[names[pick]].append(float(unseen[pick] - unseen[default]))
    means = {name: fmean(own) for name, own in gains.items() if own}
    good = [DEFAULT, *(name for name, gain in means.items() if gain > 0)]
    return Choice(
        {name: len(own) / divisions for name, own in gains.items()},
        means,
        right / divisions,
        fmean(gain for own in gains.values() for gain in own),
        max(good, key=lambda name: len(gains[name])),
    )


def selection_grids(records: Records, names: Sequence[str]) -> list[Grid]:
    """The candidates, each with its gain over the default on all sets, and what the rule says."""
    by_set = read_sets(records, names)
    if not by_set.get(DEFAULT):
        return []
    choice = choose_by_halves(by_set)
    title = (
        f"Candidates on {len(by_set[DEFAULT])} sets; chosen on a half: best on the other in "
        f"{choice.best:.0%}, mean gain there {signed_number(choice.gain)}; by the rule: {choice.winner}"
    )
    lines = tuple(
        (
            name,
            *(_mean(by_set, name, kind) for kind in KINDS),
            f"{choice.chosen[name]:.0%}",
            signed_number(choice.gains[name]) if name in choice.gains else "–",
            signed(_gain(by_set, name)),
        )
        for name in by_set
    )
    return [
        Grid(
            quick_title(title, records.quick),
            ("", *KINDS, "chosen", "gain there", "minus the default"),
            lines,
        )
    ]


def sum_grids(records: Records) -> list[Grid]:
    """What each kind of set says of leaving one statistic out of the sum."""
    return [_sum_grid(areas, kind, records.quick) for kind in KINDS if (areas := _sums_by_set(records, kind))]


def choose_sum(records: Records, kind: str) -> Choice | None:
    """The choice among the sums on the sets of one kind; None where too few are measured."""
    by_set = _sums_by_set(records, kind)
    return choose_by_halves(by_set) if len(by_set.get(DEFAULT, ())) >= 2 else None


def _sums_by_set(records: Records, kind: str) -> dict[str, dict[str, OnSet]]:
    """By what is left out, as if each sum were a detector; the default is the sum of all."""
    return {
        DEFAULT if name == ALL else f"without {name}": {
            each: OnSet(kind, area, area, None, None, 0, 1) for each, area in own.items()
        }
        for name, own in sums(records, kind).items()
        if own
    }


def _sum_grid(by_set: BySet, kind: str, quick: bool) -> Grid:
    sets = len(by_set[DEFAULT])
    if sets < 2:
        return Grid(quick_title(f"Sums on {kind}: too few sets to divide", quick), ("",), ())
    choice = choose_by_halves(by_set)
    lines = tuple(
        (
            "all four" if name == DEFAULT else name,
            _mean(by_set, name, kind),
            f"{choice.chosen[name]:.0%}",
            signed_number(choice.gains[name]) if name in choice.gains else "–",
            signed(_gain(by_set, name)),
        )
        for name in by_set
    )
    winner = "all four" if choice.winner == DEFAULT else choice.winner
    title = f"What the score adds up, on {sets} sets of {kind}; by the rule: {winner}"
    return Grid(quick_title(title, quick), ("", "AUROC", "chosen", "gain there", "minus all four"), lines)


def signed_number(value: float) -> str:
    """With a sign and four decimals, for gains are small.

    >>> signed_number(0.00314), signed_number(-0.1)
    ('+.0031', '−.1000')
    """
    return ("−" if value < 0 else "+") + short(abs(value), 4)


def _halves(kinds: Sequence[Sequence[int]], random: np.random.Generator) -> tuple[list[int], list[int]]:
    """The odd one of a kind goes to either half."""
    one: list[int] = []
    other: list[int] = []
    for own in kinds:
        order = random.permutation(own).tolist()
        border = len(order) // 2 + (int(random.integers(2)) if len(order) % 2 else 0)
        one += order[:border]
        other += order[border:]
    return one, other


def _mean(by_set: BySet, name: str, kind: str) -> str:
    own = [one.auroc for one in by_set[name].values() if one.kind == kind]
    return short(fmean(own)) if own else "–"


def _gain(by_set: BySet, name: str) -> Mean | None:
    if name == DEFAULT:
        return None
    return bootstrap([one.auroc - by_set[DEFAULT][each].auroc for each, one in by_set[name].items()])
