"""Numbers of the panel that documents name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

from benchmarks.filling.registry import Number, Table
from benchmarks.panel import ablation_numbers, documents, selection_numbers
from benchmarks.panel.power import Power, mean_power
from benchmarks.panel.recorded import METHODS, SHOWN, pairs_of, rows_of
from benchmarks.panel.rows import Row
from benchmarks.panel.summary import Pair, pairs

__all__ = ["NUMBERS", "TABLES"]

TITLES = (
    *SHOWN,
    "fashion-mnist → flipped",
    "fashion-mnist → inverted",
    "svhn → blurred",
    "svhn → mixture",
    "cifar10 → mixture",
    "fashion-mnist-heldout-89 → classes-89",
)
"""The pairs whose numbers have names."""
BASELINES = ("no-model", "neighbours", "forest", "mixture")
IN_MEANS = ("dissensus", "fused-even", "fused-draws", "no-model")
"""Whose means over all pairs have names."""
SVHN = "svhn"

Calibrated = Callable[[Row | Pair], Power | None]
CALIBRATIONS: Mapping[str, Calibrated] = {
    "": lambda own: own.test_file,
    ".shifted": lambda own: own.training_file,
}
"""How names of powers and realised rates end, by the file that calibration images are of."""
PARTS = {"power": "found", "false": "false", "alarms": "alarms"}


def _of_pair(results: Path, method: str, title: str) -> Pair:
    found = pairs_of(results, method, grouped=title in SHOWN)
    return next(pair for pair in found if pair.title == title)


def _auroc(results: Path, method: str, title: str) -> float:
    return _of_pair(results, method, title).auroc


def _part(results: Path, method: str, title: str, calibrated: Calibrated, part: str) -> float:
    return _known(calibrated(_of_pair(results, method, title)), part)


def _known(power: Power | None, part: str) -> float:
    """Not a number where it was not measured, which documents show as a dash."""
    value = None if power is None else getattr(power, part)
    return math.nan if value is None else float(value)


def _mean(results: Path, method: str) -> float:
    return fmean(pair.auroc for pair in pairs_of(results, method, grouped=False))


def _mean_part(results: Path, method: str, part: str, *, counted: bool) -> float:
    """The mean power over all pairs, or the mean realised share; calibrated on the test file."""
    powers = [pair.test_file for pair in pairs_of(results, method, grouped=False)]
    return _known(mean_power(powers, counted=counted), part)


def _bracketed(results: Path, inliers: str | None = None) -> float:
    """How many of the recommended detector's pairs have a power that does not count."""
    own = [pair for pair in pairs_of(results, "dissensus", grouped=False) if inliers in (None, pair.inliers)]
    return float(sum(pair.test_file is not None and not pair.test_file.counts for pair in own))


def _false(
    results: Path,
    choose: Callable[[list[float]], float],
    *,
    svhn: bool,
    methods: Sequence[str],
    calibrated: Calibrated,
) -> float:
    """Of the realised shares of false discoveries, wherever anything is found."""
    own = [pair for method in methods for pair in pairs_of(results, method)]
    shares = [_known(calibrated(pair), "false") for pair in own if (pair.inliers == SVHN) is svhn]
    return math.nan if any(map(math.isnan, shares)) else choose([share for share in shares if share > 0])


def _of_seeds(
    results: Path,
    choose: Callable[[Iterable[float]], float],
    inliers: str,
    outliers: str,
    tell: Callable[[Row], float],
) -> float:
    """Of the recommended detector's seeds."""
    rows = (row for row in rows_of(results) if row.recommended and row.inliers == inliers)
    return choose(tell(row) for row in rows if row.outliers == outliers)


def _of_posterior(results: Path, posterior: str, score: str) -> float:
    """The mean AUROC over all pairs, of the seed that all posteriors were measured with."""
    rows = (row for row in rows_of(results) if row.seed == 0 and row.posterior == posterior)
    return fmean(pair.auroc for pair in pairs(row for row in rows if row.score == score))


def _named(title: str) -> str:
    return title.replace(" → ", "-to-").replace(" ", "-")


NUMBERS: Mapping[str, Number] = {
    **{
        f"{_named(title)}.{method}.auroc": partial(_auroc, method=method, title=title)
        for title in TITLES
        for method in METHODS
    },
    **{
        f"{_named(title)}.{method}.{name}{end}": partial(
            _part, method=method, title=title, calibrated=calibrated, part=part
        )
        for title in TITLES
        for method in METHODS
        for name, part in PARTS.items()
        for end, calibrated in CALIBRATIONS.items()
    },
    **{f"mean.{method}": partial(_mean, method=method) for method in IN_MEANS},
    **{
        f"mean.{method}.{name}": partial(_mean_part, method=method, part=part, counted=counted)
        for method in IN_MEANS
        for name, part, counted in (
            ("power", "found", True),
            ("power.with-brackets", "found", False),
            ("false", "false", False),
        )
    },
    "bracketed": _bracketed,
    "mnist.bracketed": partial(_bracketed, inliers="mnist"),
    **{
        f"{which}.false.{name}{who}{end}": partial(
            _false, choose=choose, svhn=which == SVHN, methods=methods, calibrated=calibrated
        )
        for which in (SVHN, "others")
        for name, choose in (("least", min), ("most", max))
        for who, methods in (("", ("dissensus",)), (".no-model", ("no-model",)), (".baselines", BASELINES))
        for end, calibrated in CALIBRATIONS.items()
    },
    **{
        f"svhn-to-cifar10.seeds.{name}.{end}": partial(
            _of_seeds, choose=choose, inliers=SVHN, outliers="cifar10", tell=tell
        )
        for name, tell in (
            ("auroc", lambda row: row.auroc),
            ("power", lambda row: _known(row.test_file, "found")),
            ("power.shifted", lambda row: _known(row.training_file, "found")),
        )
        for end, choose in (("least", min), ("most", max))
    },
    **{
        f"mnist-to-fashion-mnist.seeds.false.{end}": partial(
            _of_seeds,
            choose=choose,
            inliers="mnist",
            outliers="fashion-mnist",
            tell=lambda row: _known(row.test_file, "false"),
        )
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
TABLES: Mapping[str, Table] = {**documents.TABLES, **ablation_numbers.TABLES}
