"""Numbers and tables of the panel that documents name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from statistics import fmean

from benchmarks.decimals import short
from benchmarks.filling.registry import Number, Table
from benchmarks.panel import ablation_numbers, selection_numbers
from benchmarks.panel.rows import NO_MODEL, Row
from benchmarks.panel.summary import Pair, pairs
from benchmarks.panel.tasks import all_rows
from benchmarks.paper.published import PUBLISHED
from benchmarks.records import Records

__all__ = ["NUMBERS", "TABLES"]

METHODS: Mapping[str, Callable[[Row], bool]] = {
    "dissensus": lambda row: row.recommended,
    "no-model": lambda row: (row.posterior, row.score) == ("sghmc", "fused-images"),
    "neighbours": lambda row: row.score == "nearest-neighbour",
    "forest": lambda row: row.score == "isolation-forest",
    "mixture": lambda row: row.score == "gaussian-mixture",
    **{
        name: lambda row, score=score: (row.posterior, row.score) == ("sghmc", score)  # type: ignore[misc]
        for name, score in (
            ("likelihood", "mean-ll"),
            *((score, score) for score in ("ess", "kl", "whitened", "fused-draws", "fused-even")),
        )
    },
}
SHOWN = {
    "fashion-mnist → mnist": "Fashion-MNIST → MNIST",
    "fashion-mnist → kmnist": "Fashion-MNIST → KMNIST",
    "mnist → fashion-mnist": "MNIST → Fashion-MNIST",
    "svhn → cifar10": "SVHN → CIFAR10",
    "cifar10 → svhn": "CIFAR10 → SVHN",
    "fashion-mnist-heldout → held-out classes": "Fashion-MNIST → held-out classes",
}
"""The pairs that the README shows."""
TITLES = (
    *SHOWN,
    "fashion-mnist → flipped",
    "fashion-mnist → inverted",
    "svhn → mixture",
    "cifar10 → mixture",
    "fashion-mnist-heldout-89 → classes-89",
)
"""The pairs whose numbers have names."""
BASELINES = ("no-model", "neighbours", "forest", "mixture")
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
SVHN = "svhn"
POSTERIORS = ("sghmc", "sghmc-variant-2", "cyclical-sghmc", "sgld", "ensemble", "swag", "variational")
COMPARED = (
    "fashion-mnist → mnist",
    "svhn → cifar10",
    "cifar10 → svhn",
    "fashion-mnist-heldout → held-out classes",
)
POSTERIOR_HEAD = (
    "| | Fashion → MNIST | SVHN → CIFAR-10 (BH power / realised false share) | CIFAR-10 → SVHN "
    "| held-out classes | mean of {pairs} pairs | worst far "
    "| ESS: Fashion → MNIST, SVHN → CIFAR-10, held-out | `whitened`: the same |"
)


@lru_cache(maxsize=1)
def _read(results: Path, _: tuple[int, ...]) -> list[Row]:
    return list(all_rows(Records(results / "panel")))


def _rows(results: Path) -> list[Row]:
    # The records take a moment to read: only once, unless a file has changed.
    changed = tuple(path.stat().st_mtime_ns for path in sorted((results / "panel").glob("*.jsonl")))
    return _read(results, changed)


def _pairs(results: Path, method: str, *, grouped: bool = True) -> list[Pair]:
    return pairs([row for row in _rows(results) if METHODS[method](row)], grouped=grouped)


def _of_pair(results: Path, method: str, title: str, column: str) -> float:
    found = _pairs(results, method, grouped=title in SHOWN)
    return float(next(getattr(pair, column) for pair in found if pair.title == title))


def _mean(results: Path, method: str) -> float:
    return fmean(pair.auroc for pair in _pairs(results, method, grouped=False))


def _false(
    results: Path, choose: Callable[[list[float]], float], *, svhn: bool, methods: Sequence[str]
) -> float:
    """Of the realised shares of false discoveries, wherever anything is found."""
    own = [pair for method in methods for pair in _pairs(results, method)]
    return choose([pair.bh_false for pair in own if (pair.inliers == SVHN) is svhn and pair.bh_false > 0])


def _of_seeds(
    results: Path, choose: Callable[[Iterable[float]], float], inliers: str, outliers: str, column: str
) -> float:
    """Of the recommended detector's seeds."""
    rows = (row for row in _rows(results) if row.recommended and row.inliers == inliers)
    return choose(getattr(row, column) for row in rows if row.outliers == outliers)


def _of_posterior(results: Path, posterior: str, score: str) -> float:
    """The mean AUROC over all pairs, of the seed that all posteriors were measured with."""
    rows = (row for row in _rows(results) if row.seed == 0 and row.posterior == posterior)
    return fmean(pair.auroc for pair in pairs(row for row in rows if row.score == score))


def _worst_far(results: Path, method: str) -> float:
    return min(pair.auroc for pair in _pairs(results, method) if pair.kind == "far")


def _beside(results: Path) -> str:
    """As in ``.986 · .79 (.17)``: AUROC, power, and the realised share of false discoveries."""
    methods = ("dissensus", "no-model", "neighbours")
    found = {name: {pair.title: [pair] for pair in _pairs(results, name)} for name in methods}
    every = {name: _pairs(results, name, grouped=False) for name in methods}
    assert len({len(own) for own in every.values()}) == 1, "they were measured on different pairs"
    lines = ["| learnt → asked about | dissensus | no model | neighbours |", "|---|---|---|---|"]
    lines += [_line(shown, [found[name][title] for name in methods]) for title, shown in SHOWN.items()]
    count = len(every["dissensus"])
    return "\n".join([*lines, _line(f"mean of all {count} pairs", [every[name] for name in methods])])


def _baselines(results: Path) -> str:
    """The same for every baseline, and each one's worst far outlier."""
    rows = _rows(results)
    names = list(dict.fromkeys(row.score for row in rows if row.posterior == NO_MODEL))
    methods = [
        [row for row in rows if row.recommended],
        *([row for row in rows if (row.posterior, row.score) == (NO_MODEL, name)] for name in names),
    ]
    found = [{pair.title: [pair] for pair in pairs(own, grouped=True)} for own in methods]
    every = [pairs(own) for own in methods]
    heads = " | ".join(f"`{name}`" for name in ("fused", *names))
    lines = [f"| | {heads} |", "|---" * (2 + len(names)) + "|"]
    lines += [_line(shown, [own[title] for own in found]) for title, shown in SHOWN.items()]
    lines.append(_line(f"mean of all {len(every[0])} pairs", every))
    worst = [short(min(pair.auroc for pair in own if pair.kind == "far")) for own in every]
    return "\n".join([*lines, f"| worst far outlier of the panel | {' | '.join(worst)} |"])


def _found(results: Path) -> str:
    """The recommended detector beside what was asked, in bold where that is reached, and beside others."""
    methods = ("dissensus", "ess", "kl", "likelihood", "no-model")
    found = {name: {pair.title: pair.auroc for pair in _pairs(results, name)} for name in methods}
    lines = [FOUND_HEAD, "|---" * 8 + "|"]
    for title, asked in ASKED.items():
        paper = IN_THE_PAPER.get(title)
        published = [PUBLISHED[paper, name].auroc for name in ("BVAE1", "BVAE2")] if paper else []
        values = [found[name][title] if title in SHOWN else _worst_far(results, name) for name in methods]
        own, *others = map(short, values)
        cells = (
            f"**{own}**" if values[0] >= asked else own,
            f"{asked:g}".removeprefix("0"),
            short(max(published)) if published else "–",
            *others,
        )
        lines.append(f"| {' | '.join([SHOWN.get(title, title), *cells])} |")
    return "\n".join(lines)


def _line(shown: str, cells: list[list[Pair]]) -> str:
    words = []
    for own in cells:
        power, false = (fmean(getattr(pair, name) for pair in own) for name in ("bh_power", "bh_false"))
        words.append(f"{short(fmean(pair.auroc for pair in own))} · {_two(power)} ({_two(false)})")
    return f"| {' | '.join([shown, *words])} |"


def _posteriors(results: Path) -> str:
    """Every posterior with one seed: AUROC of ``fused``, and of scores that depend on the posterior most."""
    every = [row for row in _rows(results) if row.seed == 0]
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
            f"{short(second.auroc)} ({short(second.bh_power)} / {short(second.bh_false)})",
            short(third.auroc),
            short(held_out.auroc),
            short(fmean(pair.auroc for pair in own)),
            short(min(pair.auroc for pair in own if pair.kind == "far")),
            *others,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([POSTERIOR_HEAD.format(pairs=len(own)), "|---" * 9 + "|", *lines])


def _two(share: float) -> str:
    return f"{share:.2f}".removeprefix("0")


NUMBERS: Mapping[str, Number] = {
    **{
        f"{title.replace(' → ', '-to-').replace(' ', '-')}.{method}.{name}": partial(
            _of_pair, method=method, title=title, column=column
        )
        for title in TITLES
        for method in METHODS
        for name, column in (("auroc", "auroc"), ("power", "bh_power"), ("false", "bh_false"))
    },
    **{
        f"mean.{method}": partial(_mean, method=method) for method in ("dissensus", "fused-draws", "no-model")
    },
    "svhn.false.least": partial(_false, choose=min, svhn=True, methods=("dissensus",)),
    **{
        f"{which}.false.most{end}": partial(_false, choose=max, svhn=which == SVHN, methods=methods)
        for which in (SVHN, "others")
        for end, methods in (("", ("dissensus",)), (".no-model", ("no-model",)), (".baselines", BASELINES))
    },
    **{
        f"svhn-to-cifar10.seeds.{name}.{end}": partial(
            _of_seeds, choose=choose, inliers=SVHN, outliers="cifar10", column=column
        )
        for name, column in (("auroc", "auroc"), ("power", "bh_power"))
        for end, choose in (("least", min), ("most", max))
    },
    **{
        f"posterior.{posterior}.{score}": partial(_of_posterior, posterior=posterior, score=score)
        for posterior in ("sghmc", "sghmc-variant-2", "ensemble")
        for score in ("fused", "ess", "whitened")
    },
    **ablation_numbers.NUMBERS,
    **selection_numbers.NUMBERS,
}
TABLES: Mapping[str, Table] = {
    "beside": _beside,
    "found": _found,
    "baselines": _baselines,
    "posteriors": _posteriors,
    **ablation_numbers.TABLES,
}
